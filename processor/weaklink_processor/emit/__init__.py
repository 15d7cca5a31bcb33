"""Emit: evaluations as EVALUATOR spans or annotations, and the original requests, to other servers.

Pure: evaluator.py, annotation.py, requests.py, enrich.py, wire.py, pack.py. The network: exporter.py, over a
transport.py `Transport`, of which there is one a protocol. The threads: worker.py, which moves what a feed.py `Feed`
yields through a lane.py `Lane`; patience.py stands between the two where a destination may need time.
"""
