"""A name in two languages is shown in the reader's."""

import pytest
from django.utils import translation

from copilot_site.lib.text.bilingual import in_language


@pytest.mark.parametrize(
    ("name", "en", "zh"),
    [
        ("部署规范 | Deployment", "Deployment", "部署规范"),
        ("Deployment｜部署规范", "Deployment", "部署规范"),
        ("Deployment ｜ 部署规范", "Deployment", "部署规范"),
        ("Q1 | Reports", "Q1 | Reports", "Q1 | Reports"),
        ("会议 | 2026", "会议 | 2026", "会议 | 2026"),
        ("工程 | API 文档", "工程 | API 文档", "工程 | API 文档"),
        ("工程知识库 Engineering", "工程知识库 Engineering", "工程知识库 Engineering"),
        ("甲 | One | Two", "甲 | One | Two", "甲 | One | Two"),
        ("", "", ""),
    ],
)
def test_the_half_in_the_reader_s_language_is_shown(name: str, en: str, zh: str) -> None:
    for language, shown in (("en", en), ("zh-hans", zh)):
        with translation.override(language):
            assert in_language(name) == shown
