import { describe, expect, it } from 'vitest';
import { agentReader } from '../../../core/a2a/agent-messages.ts';
import { messageChecks } from '../../../core/a2a/check-messages.ts';
import type { RequestContext } from '../../../core/contract/plugin/context.ts';
import type { AgentCall } from '../../../core/contract/plugin/requests/agent-call.ts';
import type { AgentServerDocument } from '../../../core/contract/protocol/agents/agents.ts';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { guardrailDenied, RpcError } from '../../../core/json-rpc/messages.ts';

const guardrail = { id: 'g', tools: null, input: false, output: true };
const agent = { guardrails: [guardrail] } as unknown as AgentServerDocument;

/** A guardrail of replies that denies `leaked` and redacts `secret`. */
const guardrails = {
  exist: () => true,
  of: () => ({
    checkArguments: (message: never) => message,
    checkReplies: (message: never) => message,
    checkParams: (message: never) => message,
    checkOther: null,
    checkResult: (_id: unknown, result: JsonObject): JsonObject => {
      const json = JSON.stringify(result);
      if (json.includes('leaked')) throw new RpcError(guardrailDenied, 'Request blocked by guardrail');
      return json.includes('secret') ? (JSON.parse(json.replaceAll('secret', '***')) as JsonObject) : result;
    },
  }),
};

async function readerOf(binding: 'JSONRPC' | 'HTTP+JSON', isStream: boolean) {
  const checks = await messageChecks(guardrails, {} as RequestContext, agent);
  return agentReader({
    call: { id: 7, binding, operation: 'SendMessage' } as AgentCall,
    card: { url: '', disabledSkills: [] },
    checkReply: checks?.checkReply ?? null,
    checkStream: isStream ? (checks?.checkStream ?? null) : null,
    onCharacters: () => {},
  });
}

const errors: [string, 'JSONRPC' | 'HTTP+JSON', (text: string) => JsonObject][] = [
  ['message of JSON-RPC', 'JSONRPC', (text) => ({ jsonrpc: '2.0', id: 7, error: { code: -32000, message: text } })],
  [
    'data of JSON-RPC',
    'JSONRPC',
    (text) => ({ jsonrpc: '2.0', id: 7, error: { code: -32000, message: 'no', data: [{ text }] } }),
  ],
  ['message of REST', 'HTTP+JSON', (text) => ({ error: { code: 500, message: text } })],
  ['details of REST', 'HTTP+JSON', (text) => ({ error: { code: 500, message: 'no', details: [{ reason: text }] } })],
];

describe('guardrails of agents read errors', () => {
  it.each(errors)('%s', async (_, binding, errorOf) => {
    const reader = await readerOf(binding, false);
    const read = async (text: string) => String(await reader.read(JSON.stringify(errorOf(text))));
    expect(await read('leaked')).toContain('RESPONSE_DENIED');
    expect(await read('leaked')).not.toContain('leaked');
    expect(await read('a secret')).toBe(JSON.stringify(errorOf('a ***')));
    expect(await read('plain')).toBe('null');
  });

  it.each(errors)('%s, as the event of a stream', async (_, binding, errorOf) => {
    const reader = await readerOf(binding, true);
    expect(reader.read(JSON.stringify(errorOf('leaked')))).toBeNull();
    expect(reader.hold?.isHolding).toBe(true);
    const released = (await reader.hold?.release())?.join('') ?? '';
    expect(released).toContain('RESPONSE_DENIED');
    expect(released).not.toContain('leaked');
  });
});
