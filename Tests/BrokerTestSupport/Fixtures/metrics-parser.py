"""Reads metrics with Prometheus' own parsers and prints their samples, one a line, as JSON.

usage: metrics-parser.py openmetrics|prometheus < TEXT
"""
import json
import sys

if sys.argv[1] == "openmetrics":
    from prometheus_client.openmetrics.parser import text_string_to_metric_families
else:
    from prometheus_client.parser import text_string_to_metric_families

for family in text_string_to_metric_families(sys.stdin.read()):
    for sample in family.samples:
        print(json.dumps([family.type, sample.name, sample.labels, float(sample.value)], sort_keys=True))
