import OpenAI, { AzureOpenAI, toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newReadyDatabase, ruleDatabases } from '../../admin/support/test-database.ts';
import { type GatewayWithUpstream, startGatewayWithUpstream } from '../../support/product/gateway-with-upstream.ts';
import { patternBytes } from '../../support/samples/pattern-bytes.ts';
import { until } from '../../support/until.ts';

describe.each(ruleDatabases)('files and batches of the service, on %s', (name) => {
  let gateway: GatewayWithUpstream;
  let client: OpenAI;
  let database: Awaited<ReturnType<typeof newReadyDatabase>> | null = null;

  beforeAll(async () => {
    database = name === 'PostgreSQL' ? await newReadyDatabase() : null;
    gateway = await startGatewayWithUpstream({
      env: {
        BATCH_INTERVAL: '200',
        JOB_LEASE: '3000',
        FILE_MAX: '36000000',
        ...(database ? { DATABASE_URL: database.url } : {}),
      },
    });
    client = new OpenAI({ baseURL: gateway.baseUrl, apiKey: gateway.workspaceKey, maxRetries: 0 });
  });
  afterAll(async () => {
    await gateway?.close();
    await database?.drop();
  });

  const jsonl = (lines: readonly unknown[]) => lines.map((line) => JSON.stringify(line)).join('\n');
  const line = (id: string, content = id, more: object = {}) => ({
    custom_id: id,
    method: 'POST',
    url: '/v1/chat/completions',
    body: { model: 'gpt-4o-mini', messages: [{ role: 'user', content }], ...more },
  });
  const upload = (text: string) => client.files.create({ file: new File([text], 'in.jsonl'), purpose: 'batch' });
  const ended = (id: string, deadlineMs = 60_000) =>
    until(
      async () => {
        const batch = await client.batches.retrieve(id);
        return /^(completed|failed|cancelled|expired)$/.test(batch.status) ? batch : null;
      },
      { what: 'the end of the batch', deadlineMs },
    );
  const create = (inputFileId: string, options: object = { 'x-svc-provider': '@oai' }) =>
    client.batches.create({
      input_file_id: inputFileId,
      endpoint: '/v1/chat/completions',
      completion_window: 'immediate',
      svc_options: options,
    } as never);

  it('include a file stored byte for byte, listed and deleted', async () => {
    const bytes = patternBytes(1_500_003);
    const file = await client.files.create({ file: await toFile(bytes, 'data.bin'), purpose: 'user_data' });
    expect(file).toMatchObject({ object: 'file', bytes: bytes.length, filename: 'data.bin', purpose: 'user_data' });
    expect(file.id).toMatch(/^svc_file_[0-9a-f-]{36}$/);
    const content = Buffer.from(await (await client.files.content(file.id)).arrayBuffer());
    expect(content.equals(bytes)).toBe(true);
    expect((await client.files.list()).data.map((one) => one.id)).toContain(file.id);
    expect(await client.files.delete(file.id)).toEqual({ id: file.id, object: 'file', deleted: true });
    await expect(client.files.retrieve(file.id)).rejects.toMatchObject({ status: 404 });
  });

  it('exclude a file above FILE_MAX, which is rejected during the upload', async () => {
    const before = (await client.files.list()).data.map(({ id }) => id);
    const file = await toFile(patternBytes(37_000_000), 'large.bin');
    await expect(client.files.create({ file, purpose: 'user_data' })).rejects.toMatchObject({ status: 413, param: 'file' });
    expect((await client.files.list()).data.map(({ id }) => id)).toEqual(before);
  });

  it.each<Record<string, string>>([{ team: 'a\u0000' }, { team: 'half \ud800' }, { 'half \udc00': 'a' }])(
    'own batches: metadata %j is 400',
    async (metadata) => {
      const { id } = await upload(jsonl([line('x')]));
      const asked = { input_file_id: id, endpoint: '/v1/chat/completions', completion_window: '24h', metadata } as const;
      await expect(client.batches.create(asked)).rejects.toMatchObject({
        status: 400,
        param: 'metadata',
        message: expect.stringContaining('metadata: contains U+0000 or half a surrogate pair'),
      });
    },
  );

  it.each([
    ['half a character in the id', () => jsonl([{ ...line('x'), custom_id: 'half \ud800' }]), 'invalid_request'],
    ['a body nested too deeply', () => nested(200_000), 'invalid_request'],
    ['a line of too many objects', () => jsonl([{ ...line('x'), more: Array(400_001).fill({}) }]), 'invalid_request'],
    ['more than 50,000 empty lines', () => `${jsonl([line('x')])}${'\n'.repeat(200_000)}`, 'too_many_tasks'],
    ['a line without an end', () => `${jsonl([line('x')])}\n${'x'.repeat(34_000_000)}`, 'line_too_long'],
  ])('own batches: an invalid file is reported at once: %s', async (_, text, code) => {
    const batch = await ended((await create((await upload(text())).id)).id);
    expect([batch.status, batch.errors?.data?.at(-1)?.code]).toEqual(['failed', code]);
  });

  it('own batches: an invalid line is reported with its field and what is expected', async () => {
    const { method: _, ...unnamed } = line('a');
    const lines = [unnamed, { ...line('b'), custom_id: 7 }, 7];
    const batch = await ended((await create((await upload(lines.map((one) => JSON.stringify(one)).join('\n'))).id)).id);
    expect(batch.errors?.data?.map(({ message, param }) => [param, message])).toEqual([
      ['method', 'method: required'],
      ['custom_id', 'custom_id: expected string, received number'],
      [null, 'line: expected object, received number'],
    ]);
  });

  const nested = (depth: number) =>
    jsonl([line('x')]).replace('"content":"x"', () => `"content":${'['.repeat(depth)}${']'.repeat(depth)}`);

  it('are not visible to another workspace', async () => {
    const file = await upload(jsonl([line('a')]));
    const other = await gateway.admin.post('/admin/workspaces', { name: 'Other' });
    const made = await gateway.admin.post('/api-keys/workspace/service', {
      name: 'other',
      workspace_id: other.body.id ?? other.body.data?.id,
      scopes: ['completions.write'],
    });
    const stranger = new OpenAI({ baseURL: gateway.baseUrl, apiKey: made.body.key, maxRetries: 0 });
    await expect(stranger.files.retrieve(file.id)).rejects.toMatchObject({ status: 404 });
    expect((await stranger.files.list()).data).toEqual([]);
  });

  it('have one reply per line, failures in the error file, although control plane and gateway are killed', async () => {
    const { upstream } = gateway;
    upstream.on(
      (request) => request.path.endsWith('/chat/completions'),
      async (exchange) => {
        exchange.response.setHeader('content-type', 'application/json');
        if (exchange.request.text.includes('"fails-')) {
          exchange.response.statusCode = 422;
          exchange.response.end(
            JSON.stringify({ error: { message: 'no', type: 'invalid_request_error', param: null, code: null } }),
          );
          return;
        }
        const body = JSON.parse(exchange.request.text);
        const text = body.messages[0].content;
        exchange.response.end(
          JSON.stringify({
            id: 'chatcmpl-1',
            object: 'chat.completion',
            created: 1,
            model: body.model,
            choices: [{ index: 0, message: { role: 'assistant', content: `echo ${text}` }, finish_reason: 'stop' }],
            usage: { prompt_tokens: 2, completion_tokens: 3, total_tokens: 5 },
          }),
        );
      },
    );
    const lines = Array.from({ length: 200 }, (_, i) => line(i % 10 === 7 ? `fails-${i}` : `ok-${i}`));
    const batch = await create((await upload(jsonl(lines))).id);
    expect(batch.id).toMatch(/^svc_batch_/);
    const progress = (count: number) =>
      until(async () => ((await client.batches.retrieve(batch.id).catch(() => null))?.request_counts?.completed ?? 0) >= count, {
        what: `${count} lines`,
        deadlineMs: 60_000,
      });
    await progress(20);
    for (const pid of gateway.pidsOf('control-plane')) process.kill(pid, 'SIGKILL');
    await progress(80);
    for (const pid of gateway.pidsOf('gateway')) process.kill(pid, 'SIGKILL');
    const done = await until(
      async () => {
        const found = await client.batches.retrieve(batch.id).catch(() => null);
        return found && found.status === 'completed' ? found : null;
      },
      { what: 'the completed batch', deadlineMs: 120_000 },
    );
    expect(done.request_counts).toEqual({ total: 200, completed: 180, failed: 20 });
    const read = async (id: string | null | undefined) =>
      (await (await client.files.content(id as string)).text())
        .trimEnd()
        .split('\n')
        .map((text) => JSON.parse(text));
    const output = await read(done.output_file_id);
    expect(output.map((one) => one.custom_id)).toEqual(lines.map((one) => one.custom_id).filter((id) => id.startsWith('ok')));
    expect(output[0].response).toMatchObject({ status_code: 200, body: { choices: [{ message: { content: 'echo ok-0' } }] } });
    const errors = await read(done.error_file_id);
    expect(errors).toHaveLength(20);
    expect(errors[0]).toMatchObject({ custom_id: 'fails-7', response: { status_code: 422 } });
    const reply = await gateway.call(`/batches/${batch.id}/output`);
    expect((await reply.text()).trimEnd().split('\n')).toHaveLength(200);
    expect((done as never as { usage: object }).usage).toMatchObject({
      input_tokens: 360,
      output_tokens: 540,
      total_tokens: 900,
    });
    upstream.reset();
  }, 240_000);

  it('beside them: a test run of a prompt has one result per row although the control plane is killed twice', async () => {
    const { admin, upstream, workspaceId } = gateway;
    let killAt = 3;
    upstream.on(
      (request) => request.path.endsWith('/chat/completions'),
      async ({ request, response }) => {
        const [{ content }] = JSON.parse(request.text).messages;
        // The kill comes while calls are in progress and others are done.
        if (content === `Hello row ${killAt}`) {
          killAt = killAt === 3 ? 9 : -1;
          for (const pid of gateway.pidsOf('control-plane')) process.kill(pid, 'SIGKILL');
        }
        response.setHeader('content-type', 'application/json');
        const message = { role: 'assistant', content: `${content}!` };
        response.end(
          JSON.stringify({ object: 'chat.completion', model: 'm', choices: [{ index: 0, message, finish_reason: 'stop' }] }),
        );
      },
    );
    const string = '[{"role":"user","content":"Hello {{name}}"}]';
    const prompt = await admin.createPrompt({ string, model: 'm', virtual_key: 'oai' });
    const workspace = { workspace_id: workspaceId };
    const rows = Array.from({ length: 16 }, (_, row) => ({ variables: { name: `row ${row}` } }));
    const set = await admin.post('/prompts/test-sets', { ...workspace, name: 'Rows', rows });
    const { id: keyId } = await admin.createKey();
    const run = await admin.post(`/prompts/test-sets/${set.body.slug}/runs`, { ...workspace, prompt, api_key_id: keyId });
    const path = `/prompts/test-runs/${run.body.id}`;
    const done = await until(
      async () => {
        const { body } = await admin.get(path).catch(() => ({ body: null }));
        return body?.status === 'success' && body;
      },
      { what: 'the end of the run', deadlineMs: 60_000 },
    );
    expect([killAt, done]).toMatchObject([-1, { rows_total: 16, rows_done: 16, rows_failed: 0 }]);
    const { data } = (await admin.get(`${path}/results?page_size=100`)).body;
    expect(data.map(({ output }: { output: string }) => output)).toEqual(rows.map((_, row) => `Hello row ${row}!`));
    upstream.reset();
  }, 120_000);

  it('reject a file with an invalid line as a whole, naming the line', async () => {
    const file = await upload(`${jsonl([line('a'), line('a')])}\nnot json\n`);
    const batch = await ended((await create(file.id)).id);
    expect(batch.status).toBe('failed');
    expect(batch.errors?.data?.map((one) => [one.line, one.code])).toEqual([
      [2, 'duplicate_custom_id'],
      [3, 'invalid_json_line'],
    ]);
    const noted = await gateway.call(`/batches/${batch.id}`, { method: 'PUT', body: { internal_output_file_id: 'f-1' } });
    expect(await noted.json()).toEqual({ id: batch.id, object: 'batch', internal_output_file_id: 'f-1' });
    expect(await client.batches.retrieve(batch.id)).toMatchObject({ internal_output_file_id: 'f-1', status: 'failed' });
  });

  it('stop within a bucket when cancelled', async () => {
    gateway.upstream.on((request) => request.path.endsWith('/chat/completions'), {
      when: 'body',
      run: () => new Promise(() => {}),
    });
    const file = await upload(jsonl(Array.from({ length: 60 }, (_, i) => line(`c-${i}`))));
    const { id } = await create(file.id);
    await gateway.upstream.nextRequest(30_000);
    expect((await client.batches.cancel(id)).status).toBe('cancelling');
    const batch = await ended(id);
    expect(batch.status).toBe('cancelled');
    expect(batch.request_counts?.completed).toBe(0);
    gateway.upstream.reset();
  }, 90_000);

  it("run with the routes of Azure's dated API, which have no version", async () => {
    const azure = new AzureOpenAI({
      ...{ endpoint: gateway.baseUrl.replace(/\/v1$/, ''), apiKey: gateway.workspaceKey },
      ...{ apiVersion: '2024-10-21', maxRetries: 0 },
    });
    const sent = { ...line('a', 'a', { model: '@oai/gpt-4o-mini' }), url: '/chat/completions' };
    const file = await azure.files.create({ file: new File([jsonl([sent])], 'in.jsonl'), purpose: 'batch' });
    const created = await azure.batches.create({
      ...{ input_file_id: file.id, completion_window: '24h' },
      endpoint: '/chat/completions' as '/v1/chat/completions',
    });
    expect(created).toMatchObject({ object: 'batch', endpoint: '/v1/chat/completions' });
    expect(await ended(created.id)).toMatchObject({ status: 'completed', request_counts: { total: 1, completed: 1 } });
  });

  it('name the field of an invalid batch', async () => {
    const file = await upload(jsonl([line('a')]));
    const provided = { input_file_id: file.id, endpoint: '/v1/chat/completions', completion_window: 'immediate' };
    await expect(client.batches.create({ ...provided, provider_options: { model: 'other' } } as never)).rejects.toMatchObject({
      status: 400,
      param: 'provider_options.model',
    });
    for (const [wrong, param, text] of [
      [{ ...provided, input_file_id: undefined }, 'input_file_id', 'input_file_id: required'],
      [{ ...provided, input_file_id: 7 }, 'input_file_id', 'input_file_id: expected string, received number'],
      [{ ...provided, metadata: { team: 'x'.repeat(513) } }, 'metadata.team', 'metadata.team: at most 512 characters'],
      [{ ...provided, endpont: 'x' }, 'endpont', 'endpont: unknown key; did you mean endpoint?'],
    ] as const) {
      const message = expect.stringMatching(new RegExp(`${text.replace('?', '\\?')}$`));
      await expect(client.batches.create(wrong as never)).rejects.toMatchObject({ status: 400, param, message });
    }
    await expect(create('file-of-a-provider')).rejects.toMatchObject({ status: 400, param: 'input_file_id' });
    await expect(create(file.id, { 'x-svc-api-key': 'no', 'x-svc-provider': gateway.workspaceKey })).rejects.toMatchObject({
      status: 400,
    });
    await expect(
      client.batches.create({ input_file_id: file.id, endpoint: '/v1/nothing' as never, completion_window: '24h' }),
    ).rejects.toMatchObject({ status: 400, param: 'endpoint' });
  });
});
