"""Reads a topic from its beginning, as any program of a studio would, and prints one JSON line for each message.

Usage: python3 plain_consumer.py <brokers> <topic> <isolation level> <how many different event ids to wait for>
Ends with exit code 1 when they do not come in time.
"""

import json
import sys
import time

from kafka import KafkaConsumer
from kafka.partitioner.default import murmur2

LIMIT_S = 60

brokers, topic, isolation, wanted = sys.argv[1:]
consumer = KafkaConsumer(
    topic,
    bootstrap_servers=brokers.split(","),
    group_id=None,
    auto_offset_reset="earliest",
    isolation_level=isolation,
)
ids = set()
end = time.monotonic() + LIMIT_S
while len(ids) < int(wanted):
    if time.monotonic() > end:
        sys.exit(f"{len(ids)} of {wanted} events came within {LIMIT_S} s")
    for messages in consumer.poll(timeout_ms=500).values():
        for message in messages:
            event = json.loads(message.value)
            ids.add(event["id"])
            line = {
                "partition": message.partition,
                # Where this library's own default partitioner would have put the key.
                "partitionOfKey": (murmur2(message.key) & 0x7FFFFFFF) % len(consumer.partitions_for_topic(topic)),
                "key": message.key.decode(),
                "headers": {name: value.decode() for name, value in message.headers},
                "event": event,
            }
            print(json.dumps(line))
consumer.close()
