import { baseUrl, flag, objectStoreUrl, text } from '../setting-types.ts';
import { optional, row } from './kinds.ts';

export const objectStore = {
  objectStore: optional(
    'OBJECT_STORE',
    'Place of log exports, and of bodies if LOG_BODIES is `object_store`: `s3://bucket/prefix` or `file:///directory` (shared by all control planes). Unset: the database.',
    objectStoreUrl(),
  ),
  s3Endpoint: optional(
    'S3_ENDPOINT',
    'URL of an S3-compatible server. Unset: Amazon S3 in S3_REGION.',
    baseUrl('https://minio.example.com:9000'),
  ),
  s3Region: row('S3_REGION', 'us-east-1', 'Region of the bucket.', text(/^[a-z0-9-]{1,50}$/, 'a region such as eu-central-1')),
  s3PathStyle: row(
    'S3_PATH_STYLE',
    'false',
    'Whether URLs name the bucket in the path (`host/bucket/key`) instead of the host (`bucket.host/key`).',
    flag(),
  ),
  s3AccessKeyId: optional(
    'S3_ACCESS_KEY_ID',
    'Access key of the bucket. Unset: the identity that AWS gives this machine (service account, task or instance role).',
    text(/^[A-Za-z0-9._-]{3,200}$/, '3 to 200 letters, digits, ., _ and -'),
  ),
  s3SecretAccessKey: optional(
    'S3_SECRET_ACCESS_KEY',
    'Secret of S3_ACCESS_KEY_ID.',
    text(/^\S{8,400}$/, '8 to 400 characters without spaces'),
    {
      secret: true,
    },
  ),
};
