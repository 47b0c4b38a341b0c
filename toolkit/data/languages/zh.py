"""Chinese. A numeral counts before a measure word, in fractions, discounts and halves.

Chinese numerals are part of many words that count nothing (三角形, 星期三, 二年级, 第三天, 一共), so a
numeral counts only directly before a measure word. "一" alone is not a number: it is mostly the article "a",
and 1 is a constant of the model. 两 is not a number if it refers to two named things (甲乙两人, 这两个).

No word multiplies the digits before it: in "20万元" 万 is a part of the unit, as in the equations of
Math23K, which all have 20. Numerals that are written out count in full: 三万 is 30,000. No word for percent
follows a number: 百分之 comes before it.
"""

import re
from fractions import Fraction

from toolkit.data.languages.language import Language, NumberWords, PageLabels

_DIGITS = {c: n for n, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_TENS = {"十": 10, "百": 100, "千": 1000}
_BIG = {"万": 10**4, "亿": 10**8}

_MEASURES = (  # measure words, each with what must not follow
    "个 只 条(?!件|形|理|纹) 本(?!金|来|身|月|周|年|题|市|校) 支(?!出|付|持) 枝 张 次(?!方|数) "
    "倍(?!数) 件 台(?!阶|湾) 辆 块 颗 棵 株 层 排(?!列|球|水) 盒 箱(?!子) 袋(?!子) 瓶(?!子) 杯(?!子) 队 "
    "组(?!成|合) 段 页(?!数) 岁 名(?!次|称) 位(?!数|小数|置|于) 人(?!民|类|工|均|物|口) "
    "包(?!括|含|装) 筐 桶 罐 碗 盘 盆 壶 把 双(?!方|打) 副 幅 套 匹 群 捆 根(?!据) 节(?!约|省) "
    "列(?!式) 架 艘 座(?!位) 栋 幢 间(?!隔) 户 篇 首(?!先) 句 册 份 批 堆 片 朵 粒 滴 串 束 枚 "
    "顶(?!点) 盏 道(?!路) 场(?!地) 遍 趟 圈 轮(?!流|船) 步 种(?!植|子|了) 项(?!目) "
    "头(?=牛|猪|羊|大|小|奶|鹿|驴|象) 口(?=人|井|锅) 元 毛(?!线|巾|衣|笔) "
    "角(?!形|板|柱|度|星|尺|的|是|都|相|和) 分钟 分米 "
    "分(?!之|别|成|为|解|配|给|数|析|类|布|米|钟|开) 秒 小时 钟头 刻钟 天(?!鹅|空|文|然|平) 星期 "
    "周(?!长|年|岁|围) 年(?!级|代|龄|份|月|利) 世纪 千克 千米 千瓦 毫米 厘米 公里 公斤 公顷 平方 立方 "
    "毫升 毫克 升(?!高|级|起|降) 吨 斤 亩 度(?!过|数) (?<!千)克(?!服) (?<!千)米(?!饭|粒) (?<!千)瓦"
)

_NUMERAL = "[一二两三四五六七八九十][〇零一二两三四五六七八九十百千万亿]{0,12}"
_NUMBER = rf"(?:{_NUMERAL}|(?<![0-9a-z.])[0-9]+(?![0-9.]))"


def _pattern() -> str:
    measure = "(?:" + "|".join(_MEASURES.split()) + ")"
    the_two = "(?<![甲乙丙丁戊这那们此其倆俩a-z])"
    pronoun = "(?:(?![两二][人队组])|(?<=[每有各成为派组]))"  # 两人 alone is mostly "the two of them"
    # "，两堆煤一共" refers to two named things
    again = "(?!(?<=[、。；])两.{1,5}[共都合相同各])"
    numerals = (
        # 三分之二, 百分之25, 一又三分之二
        rf"(?:{_NUMBER}又)?(?:{_NUMBER}|百|千|万)分之(?:[0-9]+(?:\.[0-9]+)?|{_NUMERAL}(?:点{_NUMERAL})?|百)",
        rf"{_NUMBER}(?:个半(?=小时|钟头|月|星期|世纪)|[年倍]半)(?![径圆])",
        r"(?<![0-9a-z.])[1-9](?:\.?[0-9])?折(?![线叠纸痕])",
        r"[一二三四五六七八九]点?[一二三四五六七八九]?折(?![线叠纸痕])",
        r"(?<![第十百千万分])[一二三四五六七八九]成(?![人功立为本绩员品年交了长])[一二三四五六七八九]?",
        r"一半(?!径)",
        rf"(?<![上下前后大多一个年倍小])半(?=价|{measure})(?!径|圆|月|本|数)",
        rf"(?<![第周期拜初几数之点〇零一二两三四五六七八九十百千万亿])(?<!第.、)(?!十分(?!钟|米))"
        rf"{the_two}{pronoun}{again}{_NUMERAL}(?={measure})",
    )
    return f"(?=[0-9一二两三四五六七八九十百千万半])(?:{'|'.join(numerals)})"  # the look-ahead saves time


_FRACTION = re.compile("(?:(.+)又)?(.+)分之(.+)")


def _value(phrase: str) -> Fraction | None:
    """The value of a text that the pattern matched; None if it is not a number after all (一个, 三四个)."""
    if "半" in phrase:
        whole = 0 if phrase in ("半", "一半") else _integer(re.split("[个年倍]", phrase)[0])
        return None if whole is None else whole + Fraction(1, 2)
    if phrase[-1] == "折" or "成" in phrase:
        digits = "".join(str(_DIGITS.get(c, c)) for c in phrase if c in _DIGITS or c.isdecimal())
        return Fraction(int(digits), 10 ** len(digits))
    if fraction := _FRACTION.fullmatch(phrase):
        units, below, above = (_number(part or "零") for part in fraction.groups())
        return None if units is None or not below or above is None else units + above / below
    return None if phrase == "一" else _number(phrase)


def _number(text: str) -> Fraction | None:
    """An integer or decimal in digits or in numerals (二十五, 三点五); None if it is neither."""
    if text[0].isdecimal():
        return Fraction(text)
    whole, _, decimals = text.partition("点")
    integer = _integer(whole)
    if integer is None or any(c not in _DIGITS for c in decimals):
        return None
    return integer + Fraction("0." + ("".join(str(_DIGITS[c]) for c in decimals) or "0"))


def _integer(text: str) -> int | None:
    """二十五 is 25, 三百零五 is 305, 三百五 is 350; None for 三四 (three or four) and 二〇〇八 (a year)."""
    if text.isdecimal():
        return int(text)
    total = section = 0
    digit: int | None = None
    unit = 1  # of the numeral before, to read 三百五
    for c in text:
        if c in _DIGITS:
            if digit:
                return None
            digit, unit = _DIGITS[c], unit if _DIGITS[c] else 1
        elif c in _TENS:
            section += (1 if digit is None else digit) * _TENS[c]
            digit, unit = None, _TENS[c]
        else:
            section += digit or 0
            total = total + section * _BIG[c] if _BIG[c] < 10**8 else (total + section) * _BIG[c]
            section, digit, unit = 0, None, _BIG[c]
    return total + section + (digit or 0) * max(unit // 10, 1)


_LABELS = PageLabels(
    answer="答案",
    numbers="数字",
    own="我自己写的算式",
    bad="题目有问题",
    reasons=("给出的答案是错的", "根据题目无法求解", "题意不清楚", "这不是应用题"),
    complaint="上一个算式不能使用",
    rejections=(
        "没有写算式。",
        "无法识别：请只用数字、+ - * / ^ 和括号。",
        "用了题目里没有的数字，或者没有用题目里的数字。",
        "它等于{value}，而答案是{answer}。",
    ),
)

_REQUEST = (
    "写出解这道应用题的一个算式。用题目里的数字，需要时用100或π这样的常数，以及 + - * / ^ 和括号。"
    '用JSON回答：{"equation": "..."}'
)

_MODEL_REQUEST = (
    "你把数学应用题翻译成算式。题中每个数后面都标有它的名称：N0、N1 等。请写出一个能得到答案的算式，"
    "只用这些名称、1、2、100、pi 等小常数、+ - * / ^ 和括号。不要计算。"
    '只用 JSON 回答：{"equation": "N0 + N1"}'
)

_INSTRUCTIONS = """\
<h3>中文</h3>
<p>页面上有题目、答案和几个算式。有些算式只是碰巧得到答案：请选符合题意的那一个。
例：“小明有76本书，送出25本，还剩多少本？”答案51：<code>76 - 25</code> 是对的。</p>
<p>• 按 <b>1 … 9</b> 选算式，按 <b>Ctrl+Enter</b> 提交。</p>
<p>• <b>o</b>：都不合适，自己写算式，按 Enter，再按 Ctrl+Enter。</p>
<p>• <b>b</b>：题目有问题，请选原因。</p>
<p>• 不确定就跳过：按 <b>Ctrl+Space</b>（Skip）。</p>
"""

LANGUAGE = Language(
    code="zh",
    name="中文",
    script=re.compile(r"[\u3400-\u9fff]"),
    number_words=NumberWords(_pattern(), _value),
    pi=3.14,  # the only value in school books
    labels=_LABELS,
    request=_REQUEST,
    model_request=_MODEL_REQUEST,
    model_answer="答案是 {answer}。",
    instructions=_INSTRUCTIONS,
)
