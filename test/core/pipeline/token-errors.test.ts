import { expect, it } from 'vitest';
import { GatewayError } from '../../../core/contract/values/errors/errors.ts';
import { findHeader } from '../../../core/contract/values/http/http.ts';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { errorReply } from '../../../core/http/write-error.ts';
import { createHarness, failWith, providerDocument, replyWith, workspaceId } from '../../../core/test-kit/pipeline-harness.ts';

const managed = { azure_auth_mode: 'managed', azure_resource_name: 'r', azure_deployment_id: 'd' };
const token = { access_token: 'token-1', expires_in: '3600' };
const request = { body: { model: '@cloud/m', messages: [{ role: 'user', content: 'hello' }], max_tokens: 10 } };

/** A gateway whose provider `cloud` uses the identity of the machine. */
function gatewayOf(type: string, settings: JsonObject, options: Parameters<typeof createHarness>[0] = {}) {
  const gateway = createHarness({ machineIdentity: true, ...options });
  gateway.documents.set(`provider ${workspaceId}/cloud`, { ...providerDocument('cloud', type), settings, secrets: '{}' });
  return gateway;
}

it.each([
  ['upstream_connect', 'EHOSTUNREACH: no route', 'could not be reached', 'EHOSTUNREACH: no route'],
  ['upstream_reset', 'ECONNRESET: reset', 'closed the connection before it replied', 'ECONNRESET: reset'],
  ['request_timeout', null, 'did not reply in time', 'Request exceeded the timeout'],
] as const)('tokens: the metadata service, not the provider, is named after %s', async (code, detail, failure, reason) => {
  const gateway = gatewayOf('azure-openai', managed);
  gateway.script(failWith(new GatewayError(code, detail === null ? {} : { detail })));
  const reply = await gateway.send(request);
  const message = `The metadata service of this machine ${failure}`;
  expect([reply.status, reply.json.error]).toMatchObject([503, { message, code: 'token_unavailable' }]);
  expect(gateway.calls).toHaveLength(1);
  expect(gateway.logs).toMatchObject([
    {
      message: 'the credential of a provider could not be fetched',
      fields: { code: 'token_unavailable', provider: 'cloud', reason: `http://169.254.169.254: ${reason}` },
    },
  ]);
  expect(reply.text).not.toContain(reason);
});

it('tokens: the log has the reason of a role that could not be assumed, which the client does not receive', async () => {
  const role = { aws_auth_type: 'assumedRole', aws_role_arn: 'arn:aws:iam::123456789012:role/x', aws_region: 'us-east-1' };
  const gateway = gatewayOf('bedrock', role);
  const keys = { AccessKeyId: 'ASIA', SecretAccessKey: 's', Token: 't', Expiration: '2099-01-01T00:00:00Z' };
  const refusal = '<E><Code>AccessDenied</Code><Message>role a may not assume role x</Message></E>';
  gateway.script(replyWith(200, 'imds'), replyWith(200, 'a'), replyWith(200, keys), replyWith(403, refusal));
  const reply = await gateway.send(request);
  expect([reply.status, reply.json.error]).toMatchObject([403, { message: 'The AWS role could not be assumed: AccessDenied' }]);
  expect(reply.text).not.toContain('may not assume');
  expect(gateway.logs).toMatchObject([{ fields: { code: 'upstream_status', reason: 'role a may not assume role x' } }]);
});

/** Timers that end in the next turn of the event loop, and their delays in milliseconds. */
function fastTimers() {
  const delays: number[] = [];
  const timers = {
    after(delayMs: number, callback: () => void) {
      delays.push(delayMs);
      setImmediate(callback);
      return () => {};
    },
  };
  return { delays, timers };
}

it('tokens: a request ends after its time limit while its token is fetched', async () => {
  const { delays, timers } = fastTimers();
  const gateway = gatewayOf('azure-openai', managed, { timers });
  gateway.script(() => {});
  const reply = await gateway.send({ ...request, headers: { 'x-svc-request-timeout': '1500' } });
  const message = 'Request exceeded the timeout sent in the request: 1500ms';
  expect([reply.status, reply.json.error]).toMatchObject([408, { message, code: 'request_timeout' }]);
  expect(delays).toEqual([1500]);
});

it('tokens: the wait for one shortens the time limit of the call', async () => {
  let nowMs = 0;
  const gateway = gatewayOf('azure-openai', managed, { elapsed: () => nowMs });
  const late: Parameters<typeof gateway.script>[0] = (call, handler) => {
    nowMs += 600;
    return replyWith(200, token)(call, handler);
  };
  gateway.script(late, replyWith(200, { choices: [] }));
  const reply = await gateway.send({ ...request, headers: { 'x-svc-request-timeout': '1500' } });
  expect([reply.status, gateway.calls.map((call) => call.timeouts.firstByteMs)]).toEqual([200, [10_000, 900]]);
});

it('tokens: a target whose token endpoint does not respond opens its circuit', async () => {
  const gateway = gatewayOf('azure-openai', managed);
  const strategy = { mode: 'fallback', cb_config: { failure_threshold: 2, cooldown_interval: 30_000 } };
  gateway.addConfig('pc-main', { strategy, targets: [{ provider: '@cloud' }, { provider: '@one' }] });
  gateway.script((call, handler) =>
    call.origin.includes('169.254.169.254')
      ? failWith(new GatewayError('upstream_connect', { detail: 'EHOSTUNREACH: no route' }))(call, handler)
      : replyWith(200, { choices: [] })(call, handler),
  );
  const calls: number[] = [];
  for (let sent = 0; sent < 4; sent += 1) {
    const reply = await gateway.send({ headers: { 'x-svc-config': 'pc-main' }, body: { model: 'm', messages: [] } });
    expect([reply.status, reply.header('x-svc-last-used-option-index')]).toEqual([200, 'config.targets[1]']);
    calls.push(gateway.calls.length);
  }
  // Two calls for tokens, then none.
  expect(calls).toEqual([2, 4, 5, 6]);
});

const vertex = { vertex_auth_type: 'wif', vertex_region: 'us-central1', vertex_project_id: 'p' };
/** A request of an operation that consists of exchanges. */
const job = { method: 'GET', path: '/v1/fine_tuning/jobs/7', body: undefined };
const jobHeaders = { 'x-svc-provider': '@cloud', 'x-svc-request-timeout': '1500' };

it('tokens: an operation of several exchanges ends after its time limit while its token is fetched', async () => {
  const { delays, timers } = fastTimers();
  const gateway = gatewayOf('vertex-ai', vertex, { timers });
  gateway.script(() => {});
  const reply = await gateway.send({ ...job, headers: jobHeaders });
  const message = 'Request exceeded the timeout sent in the request: 1500ms';
  expect([reply.status, reply.json.error]).toMatchObject([408, { message, code: 'request_timeout' }]);
  expect([delays, gateway.calls.map((call) => call.tenant)]).toEqual([[1500], ['svc-metadata']]);
});

it('tokens: the wait for one shortens the time limit of an exchange', async () => {
  let nowMs = 0;
  const gateway = gatewayOf('vertex-ai', vertex, { elapsed: () => nowMs });
  gateway.script(
    (call, handler) => {
      nowMs += 600;
      return replyWith(200, token)(call, handler);
    },
    replyWith(404, { error: { message: 'no such job' } }),
  );
  const reply = await gateway.send({ ...job, headers: jobHeaders });
  expect([reply.status, gateway.calls.map((call) => call.timeouts.firstByteMs)]).toEqual([404, [10_000, 900]]);
});

it('tokens: no exchange begins if the client disconnects while its token is fetched', async () => {
  const gateway = gatewayOf('vertex-ai', vertex);
  let leave = (): void => {};
  gateway.script((call, handler) => {
    leave();
    return replyWith(200, token)(call, handler);
  });
  await gateway.send({
    ...{ ...job, headers: jobHeaders },
    prepare: (sink) => {
      leave = () => sink.leave();
    },
  });
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  expect(gateway.calls.map((call) => call.tenant)).toEqual(['svc-metadata']);
});

it('tokens: the delay that a token endpoint requests with its 429 reaches the client', async () => {
  const gateway = gatewayOf('azure-openai', managed, { errorReply });
  gateway.script(replyWith(429, { error: 'throttled' }, ['retry-after', '17']));
  const reply = await gateway.send(request);
  expect([reply.status, findHeader(reply.headers, 'retry-after')]).toEqual([429, '17']);
});

it('tokens: a retry waits for the delay that a token endpoint requests', async () => {
  const { delays, timers } = fastTimers();
  const gateway = gatewayOf('azure-openai', managed, { timers });
  gateway.script(
    replyWith(429, { error: 'throttled' }, ['retry-after', '17']),
    replyWith(200, token),
    replyWith(200, { choices: [] }),
  );
  const retry = { attempts: 1, on_status_codes: [429], use_retry_after_header: true };
  const reply = await gateway.send({ ...request, headers: { 'x-svc-config': JSON.stringify({ retry }) } });
  expect(reply.status).toBe(200);
  expect(delays).toContain(17_000);
});
