"""Countries by every name they go by: a value “Norway” is also said as “Norwegian” and “挪威”, “USA” as “US” and “美国”."""

import re

_COUNTRIES = """
USA, United States, United States of America, America, U.S., U.S.A.; American; 美国, 美利坚
UK, United Kingdom, Great Britain, Britain; British; 英国
Germany; German; 德国
France; French; 法国
Italy; Italian; 意大利
Spain; Spanish; 西班牙
Portugal; Portuguese; 葡萄牙
Netherlands, The Netherlands, Holland; Dutch; 荷兰
Belgium; Belgian; 比利时
Luxembourg; Luxembourgish; 卢森堡
Switzerland; Swiss; 瑞士
Austria; Austrian; 奥地利
Ireland; Irish; 爱尔兰
Norway; Norwegian; 挪威
Sweden; Swedish; 瑞典
Denmark; Danish; 丹麦
Finland; Finnish; 芬兰
Iceland; Icelandic; 冰岛
Poland; Polish; 波兰
Czech Republic, Czechia; Czech; 捷克
Slovakia; Slovak; 斯洛伐克
Hungary; Hungarian; 匈牙利
Romania; Romanian; 罗马尼亚
Bulgaria; Bulgarian; 保加利亚
Greece; Greek; 希腊
Turkey, Türkiye; Turkish; 土耳其
Russia, Russian Federation; Russian; 俄罗斯
Ukraine; Ukrainian; 乌克兰
China; Chinese; 中国
Japan; Japanese; 日本
South Korea, Korea, Republic of Korea; Korean, South Korean; 韩国
India; Indian; 印度
Indonesia; Indonesian; 印度尼西亚, 印尼
Malaysia; Malaysian; 马来西亚
Singapore; Singaporean; 新加坡
Thailand; Thai; 泰国
Vietnam; Vietnamese; 越南
Philippines, The Philippines; Filipino; 菲律宾
Australia; Australian; 澳大利亚, 澳洲
New Zealand; New Zealander; 新西兰
Canada; Canadian; 加拿大
Mexico; Mexican; 墨西哥
Brazil; Brazilian; 巴西
Argentina; Argentinian, Argentine; 阿根廷
Chile; Chilean; 智利
Colombia; Colombian; 哥伦比亚
Peru; Peruvian; 秘鲁
Venezuela; Venezuelan; 委内瑞拉
South Africa; South African; 南非
Egypt; Egyptian; 埃及
Nigeria; Nigerian; 尼日利亚
Kenya; Kenyan; 肯尼亚
Morocco; Moroccan; 摩洛哥
Israel; Israeli; 以色列
Saudi Arabia; Saudi; 沙特阿拉伯, 沙特
United Arab Emirates, UAE; Emirati; 阿联酋
"""


def _names() -> dict[str, tuple[str, ...]]:
    names: dict[str, tuple[str, ...]] = {}
    for line in _COUNTRIES.strip().splitlines():
        called, demonyms, chinese = ([name.strip() for name in part.split(",")] for part in line.split(";"))
        for name in (*called, *chinese):
            names[name.lower()] = (*called, *demonyms, *chinese)
    return names


_NAMES = _names()
_US = re.compile(r"(?<![\w.])(?P<us>U\.S\.(?:A\.)?|US|us|Us)(?![\w'’])")
_COUNTRY_AFTER = frozenset("the in across within our all many".split())  # noqa: SIM905


def names_of(value: str) -> tuple[str, ...]:
    """All names of the country that a value is; none for another value, a demonym among them: “French” may be a language."""
    return _NAMES.get(value.lower(), ())


def with_country(text: str) -> str:
    """“US” as the country and not as “we”: in capitals among small letters, with dots, after “the” or “in”, or first of all."""

    def said(found: re.Match[str]) -> str:
        before = re.findall(r"[a-z]+", text[: found.start()].lower())
        is_capital = found["us"].startswith("U.") or (found["us"] == "US" and not text.isupper())
        return "United States" if is_capital or not before or before[-1] in _COUNTRY_AFTER else found[0]

    return _US.sub(said, text)
