"""An S3 that checks signatures (moto) on a port of its own: one bucket, and one account that may read it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import boto3
import httpx
from moto import settings as moto_settings
from moto.server import ThreadedMotoServer

BUCKET = "company-files"
REGION = "eu-central-1"
READING = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Action": ["s3:GetObject", "s3:ListBucket"], "Resource": "*"}],
}

ALL = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]}


@dataclass(frozen=True)
class Store:
    """key, secret: of the account that may read. bucket: boto3's own view of it, of one who may change it."""

    url: str
    key: str
    secret: str
    bucket: Any

    def put(self, key: str, text: str) -> None:
        self.bucket.put_object(Key=key, Body=text.encode())


@contextmanager
def serving_s3() -> Iterator[Store]:
    server = ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    url = f"http://{host}:{port}"
    moto_settings.INITIAL_NO_AUTH_ACTION_COUNT = float("inf")
    try:
        httpx.post(f"{url}/moto-api/reset").raise_for_status()  # what the last one served is still there
        common = {"endpoint_url": url, "region_name": REGION, "aws_access_key_id": "a", "aws_secret_access_key": "b"}
        people = boto3.client("iam", **common)
        people.create_user(UserName="robot")
        made = people.create_access_key(UserName="robot")["AccessKey"]
        people.put_user_policy(UserName="robot", PolicyName="reads", PolicyDocument=json.dumps(READING))
        store = boto3.resource("s3", **common)
        store.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION})
        people.create_user(UserName="keeper")
        keeper = people.create_access_key(UserName="keeper")["AccessKey"]
        people.put_user_policy(UserName="keeper", PolicyName="all", PolicyDocument=json.dumps(ALL))
        common |= {"aws_access_key_id": keeper["AccessKeyId"], "aws_secret_access_key": keeper["SecretAccessKey"]}
        moto_settings.INITIAL_NO_AUTH_ACTION_COUNT = 0  # from here on everybody signs
        yield Store(url, made["AccessKeyId"], made["SecretAccessKey"], boto3.resource("s3", **common).Bucket(BUCKET))
    finally:
        moto_settings.INITIAL_NO_AUTH_ACTION_COUNT = float("inf")
        server.stop()
