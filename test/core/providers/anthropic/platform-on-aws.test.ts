import { describe, expect, it } from 'vitest';
import { findHeader } from '../../../../core/contract/values/http/http.ts';
import { anthropic } from '../../../../core/providers/anthropic/anthropic.ts';
import { claudePlatformAws } from '../../../../core/providers/anthropic/platform-on-aws.ts';
import { createHarness, providerDocument, replyWith, workspaceId } from '../../../../core/test-kit/pipeline-harness.ts';
import { providerContractSuite } from '../contract-suite.ts';
import { fixturesOf } from '../provider-fixtures.ts';

/** The API is Anthropic's own, so its fixtures apply here too, except for the provider id in replies and errors. */
const fixtures: ReturnType<typeof fixturesOf> = JSON.parse(JSON.stringify(fixturesOf('anthropic')), (key, value) =>
  key === 'provider' || key === 'message' || key === 'events' ? withOwnId(value) : value,
);

function withOwnId(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  return value
    .replaceAll('"provider":"anthropic"', '"provider":"claude-platform-aws"')
    .replace(/^anthropic(?=$| error:)/, 'claude-platform-aws');
}

providerContractSuite(claudePlatformAws, {
  settings: { aws_region: 'us-west-2', anthropic_aws_workspace_id: 'wrkspc_1' },
  credential: { header: 'x-api-key', value: (key) => key },
  finishReasons: { end_turn: 'stop', max_tokens: 'length', tool_use: 'tool_calls', refusal: 'refusal' },
  row: { folder: 'anthropic', fixtures },
  storedShown: false,
});

describe('calls to claude-platform-aws', () => {
  async function sentBy(secrets: object, headers: Record<string, string> = {}, path = '/v1/messages') {
    const gateway = createHarness();
    gateway.documents.set(`provider ${workspaceId}/claude-aws`, {
      ...providerDocument('claude-aws', 'claude-platform-aws'),
      settings: { aws_region: 'us-west-2', anthropic_aws_workspace_id: 'wrkspc_1' },
      secrets: JSON.stringify(secrets),
    });
    gateway.script(replyWith(200, {}));
    const body = { model: 'claude-sonnet-4-6', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] };
    const reply = await gateway.send({ path, headers: { 'x-svc-provider': '@claude-aws', ...headers }, body });
    const call = gateway.calls[0];
    return { reply, url: `${call?.origin}${call?.path}`, header: (name: string) => findHeader(call?.headers ?? [], name) };
  }

  it.each([
    ['/v1/messages', '/v1/messages'],
    ['/v1/chat/completions', '/v1/messages'],
    ['/v1/messages/count_tokens', '/v1/messages/count_tokens'],
    ['/v1/proxy/v1/skills', '/v1/skills'],
  ])('for %s name the workspace, with a key or a signature', async (path, below) => {
    const byKey = await sentBy({ api_key: 'sk-aws' }, {}, path);
    expect(byKey.url).toBe(`https://aws-external-anthropic.us-west-2.api.aws${below}`);
    expect([byKey.header('x-api-key'), byKey.header('anthropic-workspace-id')]).toEqual(['sk-aws', 'wrkspc_1']);
    const signed = await sentBy({ aws_access_key_id: 'AKIDEXAMPLE', aws_secret_access_key: 'secret' }, {}, path);
    expect(signed.header('authorization')).toMatch(
      /Credential=AKIDEXAMPLE\/\d{8}\/us-west-2\/aws-external-anthropic\/aws4_request/,
    );
    expect([signed.header('x-api-key'), signed.header('anthropic-version')]).toEqual([undefined, '2023-06-01']);
  });

  it('for files and batches use the operations of anthropic', () => {
    const { chatComplete: _chat, complete: _complete, messages: _messages, ...same } = claudePlatformAws.operations;
    expect(anthropic.operations).toMatchObject(same);
    expect(Object.keys(same)).toEqual(
      expect.arrayContaining(['uploadFile', 'createBatch', 'getBatchOutput', 'messagesCountTokens']),
    );
  });

  it('use the stored workspace, even if the request names another', async () => {
    const { reply, header } = await sentBy({ api_key: 'sk-aws' }, { 'x-svc-anthropic-aws-workspace-id': 'wrkspc_2' });
    expect([reply.status, header('x-api-key')]).toEqual([400, undefined]);
    expect(reply.text).toContain('anthropic_aws_workspace_id');
  });
});
