import { expect, it } from 'vitest';
import { listTools, type SendMessage } from '../../../core/model-tools/tool-calls.ts';

const server = (slug: string) => ({ slug, path: `tools[${slug}]`, allows: (name: string) => !name.startsWith('other') });
const tool = (name: string, length = 0) => ({ name, description: 'd'.repeat(length), inputSchema: { type: 'object' } });

/** A server whose pages have these tools and cursors. */
function serverOf(pages: ({ tools: object[]; nextCursor?: string } | null)[]) {
  const cursors: unknown[] = [];
  const send: SendMessage = async (_path, _headers, body) => {
    cursors.push(JSON.parse(Buffer.from(body).toString()).params.cursor);
    const result = pages[Math.min(cursors.length, pages.length) - 1];
    const reply = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, result }));
    return { status: 200, headers: ['content-type', 'application/json'], body: reply } as Awaited<ReturnType<SendMessage>>;
  };
  return { send, cursors };
}

it('tools for models: a tool that is listed twice is offered once, because providers refuse two with one name', async () => {
  const { send } = serverOf([{ tools: [tool('rain'), tool('rain')], nextCursor: '2' }, { tools: [tool('rain'), tool('snow')] }]);
  expect((await listTools(send, [server('city')])).map(({ tool: name }) => name)).toEqual(['rain', 'snow']);
});

it('tools for models: a server that names the same page again is not asked a third time', async () => {
  const { send, cursors } = serverOf([{ tools: [tool('rain')], nextCursor: 'same' }]);
  await listTools(send, [server('city')]);
  expect(cursors).toEqual([undefined, 'same']);
});

it('tools for models: definitions of all servers have at most 4,194,304 characters', async () => {
  const half = 2 * 1024 * 1024;
  const { send } = serverOf([{ tools: [tool('rain', half), tool('other', 2 * half)] }]);
  expect(await listTools(send, [server('city')])).toHaveLength(1);
  await expect(listTools(send, [server('city'), server('town')])).rejects.toMatchObject({
    code: 'bad_request',
    message: expect.stringContaining('definitions of more than 4194304 characters'),
  });
});

it('tools for models: a list without a result is an error of the server, not of the client', async () => {
  const { send } = serverOf([null]);
  await expect(listTools(send, [server('city')])).rejects.toMatchObject({
    code: 'upstream_invalid',
    message: "tools[city]: the tools of the MCP server 'city' could not be listed: it sent no result",
  });
});

it('tools for models: a definition that is nested too deeply is an error of the server', async () => {
  const nested = (levels: number) => JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`);
  const { send } = serverOf([{ tools: [{ name: 'flat', inputSchema: nested(63) }] }]);
  expect(await listTools(send, [server('city')])).toHaveLength(1);
  for (const levels of [64, 20_000]) {
    const reply = { status: 200, headers: ['content-type', 'application/json'] };
    const body = `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"deep","inputSchema":${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}}]}}`;
    await expect(listTools(async () => ({ ...reply, body: Buffer.from(body) }) as never, [server('city')])).rejects.toMatchObject(
      {
        code: 'upstream_invalid',
        message:
          "tools[city]: the tools of the MCP server 'city' could not be listed: tool 'deep' is nested deeper than 64 levels",
      },
    );
  }
});
