"""Names and titles: what they begin with and contain, what is written in a field, what something is called."""

from agent.business.ask.chinese.forms import HAN, Table

_NAME = "(?P<d>名字|名称|标题|歌名|书名|品名|姓名)"
_CALLED = "[叫是](?:什么|啥|哪些?)"

titled = Table(
    (r"(?<!名称)(?<!名字)(?<!标题)以\s?(?P<x>[A-Za-z][\w'-]*)\s?(?:开头|打头|起头)", r"名称以“\g<x>”开头"),
    (
        rf"{_NAME}(?:里面?|中|上|内)?(?:带有?|含有?|包含|包括|出现|有)[了着]?\s?(?P<x>[A-Za-z][\w'-]*)(?=\s?(?:的|字|这|[?,。]|$))",
        r"\g<d>包含“\g<x>”",
    ),
    (rf"{_NAME}(?:里面?|中|上|内)?(?:带有?|含有?|出现|里有)(?=[“\"])", r"\g<d>包含"),
    (rf"(?<={HAN})(?:写|填|登记|标|留)的?[是为着成](?=[\u3400-\u9fffA-Za-z“\"])", "是"),
    # what it is called
    (rf"(?:有|共|一共)+(?:几|多少){HAN}[、,]?(?:都|分别|各)?{_CALLED}(?:名字|名称)?[?。]*$", "有哪些"),
    (rf"{_CALLED}(?:名字|名儿|名称|名)|(?:名字|名称|姓名)都?{_CALLED}|叫(?:什么|啥)(?:来着)?", "是哪个"),
)
