import { describe, expect, it } from 'vitest';
import { findHeader } from '../../../../core/contract/values/http/http.ts';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import {
  createHarness,
  type Harness,
  providerDocument,
  replyWith,
  type Script,
  workspaceId,
} from '../../../../core/test-kit/pipeline-harness.ts';

/** Stores a provider of type bedrock with these settings. */
function store(settings: JsonObject): Harness {
  const harness = createHarness();
  const secrets = JSON.stringify({ aws_access_key_id: 'AKIDEXAMPLE', aws_secret_access_key: 'sk' });
  const document = { ...providerDocument('aws', 'bedrock'), settings: { aws_region: 'eu-central-1', ...settings }, secrets };
  harness.documents.set(`provider ${workspaceId}/aws`, document);
  return harness;
}

const list = (harness: Harness, headers: Record<string, string> = {}) =>
  harness.send({ method: 'GET', path: '/v1/files', headers: { 'x-svc-provider': '@aws', ...headers }, body: '' });
const empty: Script = replyWith(200, '<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>', [
  'content-type',
  'application/xml',
]);

describe('a stored bucket', () => {
  it('holds the files, and requests cannot select another', async () => {
    const harness = store({ aws_s3_bucket: 'ours' });
    harness.script(empty);
    expect((await list(harness)).status).toBe(200);
    expect(harness.calls[0]?.path).toMatch(/^\/ours\?/);
    const moved = await list(harness, { 'x-svc-aws-s3-bucket': 'theirs' });
    expect([moved.status, moved.json.error]).toMatchObject([400, { param: 'aws_s3_bucket' }]);
    expect(harness.calls).toHaveLength(1);
  });

  it('can be set by a request if none is stored', async () => {
    const harness = store({});
    harness.script(empty);
    expect((await list(harness, { 'x-svc-aws-s3-bucket': 'mine' })).status).toBe(200);
    expect(harness.calls[0]?.path).toMatch(/^\/mine\?/);
  });
});

describe('session tags of a stored role', () => {
  const role = { aws_auth_type: 'assumedRole', aws_role_arn: 'arn:aws:iam::123456789012:role/models', aws_session_tags: 'team' };
  const sts: Script = replyWith(
    200,
    '<Credentials><AccessKeyId>ASIA1</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration></Credentials>',
    ['content-type', 'text/xml'],
  );
  const chat = (harness: Harness, headers: Record<string, string>) =>
    harness.send({
      headers: { 'x-svc-provider': '@aws', ...headers },
      body: { model: 'amazon.nova-lite-v1:0', messages: [{ role: 'user', content: 'Hi' }] },
    });

  it('contain the metadata of a call', async () => {
    const harness = store(role);
    harness.script(
      sts,
      replyWith(200, { output: { message: { role: 'assistant', content: [{ text: 'Hi' }] } }, stopReason: 'end_turn' }),
    );
    expect((await chat(harness, { 'x-svc-metadata': '{"team":"blue","_user":"ada"}' })).status).toBe(200);
    const [asked, called] = harness.calls;
    expect(asked?.origin).toBe('https://sts.eu-central-1.amazonaws.com');
    const fields = new URLSearchParams(Buffer.from((asked?.body ?? []) as Uint8Array).toString());
    expect([fields.get('Tags.member.1.Key'), fields.get('Tags.member.1.Value')]).toEqual(['team', 'blue']);
    expect(findHeader(called?.headers ?? [], 'x-amz-security-token')).toBe('t');
    await chat(harness, { 'x-svc-metadata': '{"team":"blue","_user":"bob"}' });
    expect(harness.calls).toHaveLength(3);
  });

  it('cannot be chosen by requests', async () => {
    const harness = store(role);
    const reply = await chat(harness, { 'x-svc-aws-session-tags': 'team=_user' });
    expect([reply.status, reply.json.error]).toMatchObject([400, { param: 'aws_session_tags' }]);
    expect(harness.calls).toEqual([]);
  });
});
