import { randomUUID } from 'node:crypto';
import { beforeAll, expect, it } from 'vitest';
import type { JsonObject } from '../../core/contract/values/json/json.ts';
import { type SharedGateway, shareGateway } from '../support/product/shared-gateway.ts';

/** Every error of prompts that the specification names, from the control plane and from gateways, through one base URL. */
let gateway: SharedGateway;
/** Slugs and ids by the names that the rows use. */
const names: Record<string, string> = {};
let otherKey: string;
let readerKey: string;

interface Reply {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: errors of both planes
  readonly body: any;
}

async function ask(method: string, path: string, body?: unknown, key = gateway.workspaceKey, more: Record<string, string> = {}) {
  const headers = { 'x-svc-api-key': key, 'content-type': 'application/json', ...more };
  const reply = await fetch(`${gateway.baseUrl}${path}`, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) });
  return { status: reply.status, body: await reply.json() } as Reply;
}

async function make(path: string, body: object): Promise<{ id: string; slug: string }> {
  const { status, body: made } = await ask('POST', path, body);
  expect(status, JSON.stringify(made)).toBe(200);
  return made;
}

const messages = (content: string) => JSON.stringify([{ role: 'user', content }]);
const prompt = (content: string, more: object = {}) => ({ name: 'P', parameters: {}, string: messages(content), ...more });
const broken = 'one\ntwo {{#a}} three';

beforeAll(async () => {
  gateway = await shareGateway();
  const add = async (name: string, path: string, body: object) => {
    const { id, slug } = await make(path, body);
    names[name] = slug ?? id;
    names[`${name}.id`] = id;
  };
  await add('inner', '/prompts/partials', { name: 'Inner', string: 'inner' });
  await add('outer', '/prompts/partials', { name: 'Outer', string: `{{>${names.inner}}}` });
  await add('plain', '/prompts', prompt('Hello {{name}}'));
  await add('text', '/prompts', { name: 'T', parameters: {}, string: 'Hello {{name}}' });
  await add('long', '/prompts', prompt('{{#list}}{{text}}{{/list}}'));
  await add('raw', '/prompts', {
    name: 'R',
    parameters: {},
    string: '[{"role":"user","content":"{{name}}"}{{tail}}]',
    is_raw_template: 1,
  });
  await add('dangling', '/prompts', prompt('{{>pp-none}} {{>pp-none-either}}'));
  await add('chosen', '/prompts', prompt('{{>>which}}'));
  names.provider = (await gateway.admin.createUpstream('prompt-errors', 'https://llm.example.com/v1')).replace('@', '');
  await add('theirs', '/prompts', prompt(`{{>${names.inner}}}`, { virtual_key: names.provider }));
  const labels = (await ask('GET', '/labels')).body.data as { id: string; name: string }[];
  for (const { id, name } of labels) names[name] = id;
  const collections = (await ask('GET', `/collections?workspace_id=${gateway.workspaceId}`)).body.data;
  names.default = collections.find((row: { is_default: boolean }) => row.is_default).id;
  const workspace = (await gateway.admin.post('/admin/workspaces', { name: 'Other prompts' })).body.id;
  const scopes = ['prompts.read', 'prompts.create', 'prompts.update', 'prompts.render', 'completions.write'];
  otherKey = (await gateway.admin.createKey({ workspace_id: workspace, scopes })).key;
  names.otherWorkspace = workspace;
  readerKey = (await gateway.admin.createKey({ scopes: ['prompts.read'] })).key;
}, 60_000);

/** Replaces `<name>` by the slug or id of a name. */
function filled<T>(value: T): T {
  const text = JSON.stringify(value).replace(/<([\w.]+)>/g, (_, name) => names[name] ?? `<${name}>`);
  return JSON.parse(text);
}

type Row = [what: string, request: string, body: JsonObject | undefined, status: number, message: string];
const variables = (more: JsonObject = {}) => ({ variables: { name: 'Ann', ...more } });

const rows: Row[] = [
  ['a prompt that does not exist', 'GET /prompts/pp-none', undefined, 404, 'Prompt not found'],
  ['a version that does not exist', 'GET /prompts/<plain>/versions/9', undefined, 404, 'not found'],
  ['a reference that does not exist', 'GET /prompts/<plain>@nothing', undefined, 404, 'not found'],
  ['publishing a version that does not exist', 'PUT /prompts/<plain>/makeDefault', { version: 9 }, 404, 'Version not found'],
  ['a label that is no id', 'PUT /prompts/<plain>/versions/1', { label_id: 'nothing' }, 400, 'label_id'],
  ['an unknown label', 'PUT /prompts/<plain>/versions/1', { label_id: randomUUID() }, 404, 'label_id'],
  ['a partial that does not exist', 'GET /prompts/partials/pp-none', undefined, 404, 'not found'],
  ['a collection that does not exist', 'GET /collections/nowhere', undefined, 404, 'not found'],
  ['a prompt in an unknown collection', 'POST /prompts', prompt('x', { collection_id: 'nowhere' }), 404, 'collection_id'],
  ['a prompt with an unknown provider', 'POST /prompts', prompt('x', { virtual_key: 'nobody' }), 404, 'virtual_key'],
  ['rendering an unknown prompt', 'POST /prompts/pp-none/render', variables(), 404, 'Invalid prompt id'],
  ['rendering an unknown version', 'POST /prompts/<plain>@9/render', variables(), 404, 'Invalid prompt id'],
  ['rendering an unknown label', 'POST /prompts/<plain>@nothing/render', variables(), 404, 'Invalid prompt id'],
  ['completing an unknown prompt', 'POST /prompts/pp-none/completions', variables(), 404, 'Invalid prompt id'],
  ['variables of an unknown prompt', 'GET /prompts/pp-none/variables', undefined, 404, 'Invalid prompt id'],
  ['a template that is not closed', 'POST /prompts', { ...prompt('x'), string: broken }, 400, 'string: line 2, column '],
  ['a changed template', 'PUT /prompts/<plain>', { patch: true, string: 'x {{' }, 400, 'string: line 1, column 3'],
  ['a partial that is not closed', 'POST /prompts/partials', { name: 'B', string: broken }, 400, 'string: line 2, column '],
  ['a changed partial', 'PUT /prompts/partials/<inner>', { string: '{{/x}}' }, 400, 'string: line 1, column 1'],
  ['a cycle', 'PUT /prompts/partials/<inner>', { string: '{{><outer>}}' }, 400, '<inner> → <outer> → <inner>'],
  ['a partial of itself', 'PUT /prompts/partials/<inner>', { string: '{{><inner>}}' }, 400, '<inner> → <inner>'],
  ['partials that are missing', 'POST /prompts/<dangling>/render', variables(), 400, 'pp-none, pp-none-either'],
  ['a variable partial that is missing', 'POST /prompts/<chosen>/render', variables(), 400, 'Missing variable partials: which'],
  [
    'a named partial that is missing',
    'POST /prompts/<chosen>/render',
    variables({ which: 'pp-0' }),
    400,
    'Missing prompt partials: pp-0',
  ],
  ['variables in a list', 'POST /prompts/<plain>/render', { variables: [] }, 400, 'variables: expected an object'],
  ['a raw result that is not JSON', 'POST /prompts/<raw>/render', variables({ tail: 1 }), 400, 'not valid JSON'],
  [
    'a result beyond the limit of bodies',
    'POST /prompts/<long>/render',
    variables({ list: Array(200).fill(1), text: 'x'.repeat(500_000) }),
    413,
    'The rendered prompt has more than',
  ],
  ['a name without text', 'POST /prompts', { ...prompt('x'), name: '' }, 400, 'name: must not be empty'],
  ['a version without its parameters', 'PUT /prompts/<plain>', { string: 'x' }, 400, 'parameters'],
  ['a label named latest', 'POST /labels', { name: 'latest' }, 400, 'name'],
  ['a label of digits', 'POST /labels', { name: '12' }, 400, 'name'],
  ['deleting the label production', 'DELETE /labels/<production>', undefined, 409, 'production'],
  ['deleting the label staging', 'DELETE /labels/<staging>', undefined, 409, 'staging'],
  ['deleting the label development', 'DELETE /labels/<development>', undefined, 409, 'development'],
  ['deleting the default collection', 'DELETE /collections/<default>', undefined, 404, 'default collection'],
  ['a share with an unknown workspace', 'POST /prompts/<plain>/share', { shared_with: ['nowhere'] }, 404, 'shared_with[0]'],
];

it.each(rows)('prompts: %s', async (_, request, body, status, message) => {
  const [method = '', path = ''] = filled(request).split(' ');
  const reply = await ask(method, path, body === undefined ? undefined : filled(body));
  expect([reply.status, textOf(reply)]).toEqual([status, expect.stringContaining(filled(message))]);
});

it.each([
  ['reading', 'GET /prompts/<theirs>', undefined, 404],
  ['rendering', 'POST /prompts/<theirs>/render', variables(), 404],
  ['completing', 'POST /prompts/<theirs>/completions', variables(), 404],
  ['sharing', 'POST /prompts/<theirs>/share', { shared_with: 'organisation' }, 404],
  ['forking', 'POST /prompts/<theirs>/fork', {}, 404],
  ['changing', 'PUT /prompts/<theirs>', { name: 'Mine' }, 404],
])('prompts: %s one of another workspace that is not shared is 404', async (_, request, body, status) => {
  const [method = '', path = ''] = filled(request).split(' ');
  expect((await ask(method, path, body, otherKey)).status).toBe(status);
});

it('prompts: a fork names the provider and the partials that the target lacks', async () => {
  const shared = { shared_with: [names.otherWorkspace] };
  expect((await ask('POST', `/prompts/${names.theirs}/share`, shared)).status).toBe(200);
  const fork = await ask('POST', `/prompts/${names.theirs}/fork`, {}, otherKey);
  expect([fork.status, fork.body.data.errors]).toEqual([
    400,
    [
      expect.stringContaining('virtual_key: the target workspace has no provider for '),
      `string: the partial ${names.inner} is not shared with the target workspace`,
    ],
  ]);
});

it.each([
  ['saving', 'POST /prompts', prompt('x')],
  ['rendering', 'POST /prompts/<plain>/render', variables()],
  ['completing', 'POST /prompts/<plain>/completions', variables()],
  ['moving a label', 'PUT /prompts/<plain>/versions/1', { label_id: '<staging>' }],
])('prompts: %s needs its scope', async (_, request, body) => {
  const [method = '', path = ''] = filled(request).split(' ');
  expect((await ask(method, path, filled(body), readerKey)).status).toBe(403);
});

it.each([
  ['strict mode names the missing variables', '<plain>', { 'x-svc-strict-variables': 'true' }, 'variables: missing name'],
  ['a target with an unknown prompt', '<plain>', { 'x-svc-config': '{"targets":[{"prompt_id":"pp-none"}]}' }, 'pp-none'],
  ['a target with a text for messages', '<plain>', { 'x-svc-config': '{"targets":[{"prompt_id":"<text>"}]}' }, '<text>'],
])('prompts: %s', async (_, reference, headers, message) => {
  const path = filled(`/prompts/${reference}/completions`);
  const reply = await ask('POST', path, { variables: {} }, gateway.workspaceKey, filledHeaders(headers));
  expect([reply.status, textOf(reply)]).toEqual([400, expect.stringContaining(filled(message))]);
});

function filledHeaders(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, filled(value)]));
}

/** The message of an error of either plane, with all its issues. */
function textOf({ body }: Reply): string {
  return JSON.stringify(body).replaceAll('\\"', '"');
}
