#!/usr/bin/env python3
"""Prints the tests that ctest skipped and why, from its JUnit file.

A script that skips (status 77) says why in its last line; GoogleTest prints the reason below
"Skipped".
"""
import sys
import xml.etree.ElementTree as ElementTree


def reason_of(output):
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    for index, line in enumerate(lines[:-1]):
        if line.endswith("Skipped"):
            return lines[index + 1]
    return lines[-1] if lines else "no reason given"


def main():
    for case in ElementTree.parse(sys.argv[1]).getroot().iter("testcase"):
        if case.find("skipped") is not None:
            print(f"skipped: {case.get('name')}: {reason_of(case.findtext('system-out') or '')}")


main()
