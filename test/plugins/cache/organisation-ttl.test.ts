import { expect, it } from 'vitest';
import type { WorkspaceDocument } from '../../../core/contract/protocol/documents.ts';
import { createHarness, workspaceId } from '../../../core/test-kit/pipeline-harness.ts';

const body = { model: 'gpt-5', messages: [{ role: 'user', content: 'hi' }] };

it.each([
  ['the organisation’s time caps what a config asks for', 300, 3_600, 300],
  ['a config may ask for less', 3_600, 300, 300],
  ['the organisation’s time is the default', 300, null, 300],
  ['without either it is seven days', null, null, 604_800],
])('%s', async (_what, cacheTtlSeconds, maxAge, seconds) => {
  for (const [passed, status] of [
    [seconds - 1, 'HIT'],
    [seconds + 1, 'MISS'],
  ] as const) {
    let now = 1_000_000;
    const gateway = createHarness({ now: () => now, elapsed: () => now });
    const document = gateway.documents.get(`workspace ${workspaceId}`) as WorkspaceDocument;
    const others = { blockInlineConfig: false, debugLog: true, userKeyMetadata: false, userKeyMetadataOverride: false };
    gateway.documents.set(`workspace ${workspaceId}`, { ...document, settings: { ...others, cacheTtlSeconds } });
    const cache = { mode: 'simple', ...(maxAge === null ? {} : { max_age: maxAge }) };
    const request = { body, headers: { 'x-svc-config': JSON.stringify({ provider: '@one', cache }) } };
    await gateway.send(request);
    now += passed * 1_000;
    expect((await gateway.send(request)).header('x-svc-cache-status')).toBe(status);
  }
});
