// For pages that the server renders without the person's choice (the admin): set it before the first paint.
const chosen = /(?:^|; )theme=(light|dark)/.exec(document.cookie);
if (chosen) document.documentElement.dataset.theme = chosen[1];
