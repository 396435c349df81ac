import { expect, it } from 'vitest';
import { errorReply } from '../../../core/http/write-error.ts';
import { createHarness, replyWith } from '../../../core/test-kit/pipeline-harness.ts';

const wrongKey = { 'x-svc-api-key': 'wrong' };
const version = { 'anthropic-version': '2023-06-01' };

it.each(['/v1/models', '/v1/files', '/v1/models/claude-opus-5-5'])(
  'an error of GET %s has the form of Anthropic for its clients only',
  async (path) => {
    const harness = createHarness({ errorReply });
    const send = (headers: Record<string, string>) => harness.send({ method: 'GET', path, body: '', headers });
    const toAnthropic = await send({ ...wrongKey, ...version });
    expect(toAnthropic.status).toBe(401);
    expect(toAnthropic.json).toMatchObject({ type: 'error', error: { type: 'authentication_error', name: 'invalid_api_key' } });
    expect((await send(wrongKey)).json).not.toHaveProperty('type');
  },
);

it('an error of chat completions keeps its form next to anthropic-version', async () => {
  const harness = createHarness({ errorReply });
  const { status, json } = await harness.send({ path: '/v1/chat/completions', headers: { ...wrongKey, ...version } });
  expect(status).toBe(401);
  expect(json).not.toHaveProperty('type');
});

it('an error of the provider has the form of Anthropic on routes of files for its clients only', async () => {
  const error = { type: 'not_found_error', message: 'gone', details: { error_code: 'file_not_found' } };
  const send = (headers: Record<string, string>) => {
    const harness = createHarness({ errorReply });
    harness.script(replyWith(404, { type: 'error', error, request_id: 'req_1' }));
    const provider = { 'x-svc-provider': 'anthropic', authorization: 'Bearer k' };
    return harness.send({ method: 'GET', path: '/v1/files/file_1', body: '', headers: { ...provider, ...headers } });
  };
  const toAnthropic = await send(version);
  expect(toAnthropic.status).toBe(404);
  expect(toAnthropic.json).toMatchObject({ type: 'error', error: { type: 'not_found_error', details: error.details } });
  expect((await send({})).json).not.toHaveProperty('type');
});
