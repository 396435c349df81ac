import { describe, expect, it } from 'vitest';
import { messagesFormat } from '../../../core/model-tools/messages-format.ts';
import { responsesFormat } from '../../../core/model-tools/responses-format.ts';

const name = '@svc-mcp/city';
const formats = {
  messages: (allowed_tools: unknown) =>
    messagesFormat.serversOf({ mcp_servers: [{ type: 'url', name, tool_configuration: { allowed_tools } }] }),
  responses: (allowed_tools: unknown) =>
    responsesFormat.serversOf({ tools: [{ type: 'mcp', server_label: name, allowed_tools }] }),
};

describe.each(Object.entries(formats))('allowed tools of %s', (_, serversOf) => {
  it.each(['storm', 1, true])('%j is refused, because it would allow every tool', (allowed) => {
    expect(() => serversOf(allowed)).toThrow(/allowed_tools: a list of names of tools is expected$/);
  });

  it('a list allows its tools alone, no list allows all', () => {
    expect(['storm', 'rain'].map((tool) => serversOf(['storm'])[0]?.allows(tool))).toEqual([true, false]);
    expect([undefined, null].map((allowed) => serversOf(allowed)[0]?.allows('rain'))).toEqual([true, true]);
  });
});
