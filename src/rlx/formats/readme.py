"""What the text of a README says first: the heading it opens with, and its paragraphs of prose."""

import re
from collections.abc import Iterator
from itertools import zip_longest

_TAGS = (
    "a|abbr|b|blockquote|br|center|code|dd|details|div|dl|dt|em|font|h[1-6]|hr|i|img|kbd|li|ol|p|picture|pre|q|s|small"
    "|source|span|strong|sub|summary|sup|svg|table|tbody|td|th|thead|tr|tt|u|ul|video"
)
_MARKUP = re.compile(
    rf"<!--.*?-->|</?(?:{_TAGS})(?:\s[^<>]*)?/?>"
    r"|!?\[([^\]\[]*)\]\([^()]*\)|[*`#|]+|^\s*>+|(?<![^\W_])_+|_+(?![^\W_])",
    re.MULTILINE,
)
_FENCED = re.compile(r"^ {0,3}(`{3,}|~{3,})[^\n`]*\n(?:.*?^ {0,3}\1[`~]*[ \t\r]*$|.*)", re.DOTALL | re.MULTILINE)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_HEADING = re.compile(r" {0,3}(?P<level>#{1,6})(?:\s+(?P<text>.*)|$)|\s*<h(?P<tag>[1-6])(?:\s[^<>]*)?>(?P<html>.*)")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-{3,})\s*")
_PICTURE = re.compile(r"\s*\[?!\[")
_CARD_FOR = re.compile(r"(?:the )?data(?:set)? ?card(?: for(?: the)?\b|\s*[:–—-])\s*", re.IGNORECASE)
_DENSE = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\U00020000-\U0003ffff]")
_DENSITY = 2.5
_LONGEST = 100
_BOILERPLATE = re.compile(
    "about|abstract|background|changelog|citation|contents|data|data ?cards?|datasets?|dataset (?:card|description"
    "|details|name|overview|structure|summary)|description|details|environments?|features|getting started|how to use"
    "|installation|introduction|license|motivation|my dataset|name|news|overview|quick ?start|read ?me|readme.md|setup"
    "|summary|table of contents|tasks|title|untitled|updates?|usage"
    "|개요|데이터 ?셋|데이터 ?셋 (?:개요|설명|소개|카드)|라이선스|목차|사용 ?방?법|설명|설치|소개|시작하기|환경"
    "|介绍|使用方法|安装|数据集|数据集(?:介绍|卡片|概述|简介)|概述|目录|简介|说明|簡介|說明|資料集"
    "|はじめに|インストール|データセット(?:カード|概要)?|使い方|概要|目次|説明"
)
"""Headings that the card of anything may have."""


def plain(text: str) -> str:
    """One line without the marks of Markdown."""
    return " ".join(_MARKUP.sub(lambda found: found[1] or "", text).split())


def letters(text: str) -> float:
    """How much a text says, in letters: a character of Chinese, Japanese or Korean says as much as several."""
    return len(text) + (_DENSITY - 1) * len(_DENSE.findall(text))


def heading(text: str) -> str:
    """What the first heading calls the whole, if it is of the highest level and no boilerplate; else nothing."""
    lines = _COMMENT.sub("", _FENCED.sub("", text)).splitlines()
    for line, following in zip_longest(lines, lines[1:], fillvalue=""):
        found = _HEADING.match(line)
        if found is not None:
            is_top = found["level"] == "#" or found["tag"] == "1"
            return _called(found["text"] or found["html"] or "") if is_top else ""
        if line.strip() and _UNDERLINE.fullmatch(following):
            return _called(line) if "=" in following else ""
    return ""


def paragraphs(text: str) -> Iterator[str]:
    """Paragraphs outside of code, each without the headings and pictures it opens with."""
    for paragraph in re.split(r"\n\s*\n", _FENCED.sub("…", text)):
        lines = paragraph.splitlines()
        at = 0
        while at < len(lines):
            if at + 1 < len(lines) and _UNDERLINE.fullmatch(lines[at + 1]):
                at += 2
            elif not lines[at].strip() or _HEADING.match(lines[at]) or _PICTURE.match(lines[at]):
                at += 1
            else:
                break
        if at < len(lines):
            yield "\n".join(lines[at:])


def _called(text: str) -> str:
    told = _CARD_FOR.sub("", plain(text), count=1).strip(" \t\"'“”:[]<>{}")
    known = _BOILERPLATE.fullmatch(told.casefold()) or not any(char.isalnum() for char in told)
    return "" if known or len(told) > _LONGEST else told
