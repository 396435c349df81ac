import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sampleRecord } from '../../../support/samples/sample-record.ts';
import { expectChange, expectRefusal } from '../../support/outcomes.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { refusesMissingScopes, refusesUnknownKeys } from '../../support/refusal-suites.ts';
import { ruleDatabases } from '../../support/test-database.ts';

const path = '/ledger/reconciliations';
const bill = { name: 'November', format: 'csv', data: 'date,cost\n2026-11-21,1\n' };

describe.each(ruleDatabases)('reconciliations, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
    const record = (createdAt: string, model: string, providerSlug: string, inputTokens: number) => {
      const of = { organisationId: plane.organisationId, workspaceId: plane.workspaceId };
      return sampleRecord({ ...of, createdAt, model, provider: 'openai', providerSlug, inputTokens, outputTokens: 10 });
    };
    const records = [
      record('2026-11-21T00:00:00.000Z', 'gpt-4o', 'team-a', 1_000_000),
      record('2026-11-21T23:59:59.999Z', 'gpt-4o', 'team-b', 1_000_000),
      record('2026-11-22T12:00:00.000Z', 'gpt-4o-mini', 'team-a', 1_000_000),
      // Outside of the days of the bill.
      record('2026-11-24T00:00:00.000Z', 'gpt-4o', 'team-a', 1_000_000),
    ];
    expect((await plane.internal('POST', '/records', records)).body).toMatchObject({ inserted: records.length });
  });
  afterAll(() => plane?.close());

  async function compare(given: object, query = ''): Promise<LooseBody> {
    const made = await expectChange(plane, () => plane.ask('POST', path, { body: { ...bill, ...given } }), {
      ...{ resource: 'reconciliations', action: 'create', events: [] },
    });
    const reply = await plane.ask('GET', `${path}/${made.body.id}${query}`);
    expect(reply.status, JSON.stringify(reply.body)).toBe(200);
    return reply.body;
  }
  // biome-ignore lint/suspicious/noExplicitAny: bodies of every shape
  type LooseBody = any;

  const data = [
    'date,model,cost,input_tokens,output_tokens',
    '2026-11-21,gpt-4o-2024-08-06,5.0002,2000000,20',
    '2026-11-22,GPT four mini,0.1,1000000,10',
    '2026-11-23,gpt-3,2,1,1',
    '',
  ].join('\n');

  it('compares billed and recorded costs and tokens per model and day', async () => {
    const models = { 'GPT four mini': 'gpt-4o-mini' };
    const whole = await compare({ data, models, provider: 'openai' });
    expect(whole).toMatchObject({
      name: 'November',
      first_day: '2026-11-21',
      last_day: '2026-11-23',
      provider: 'openai',
      models,
    });
    expect(whole.data).toEqual([
      {
        ...{ date: '2026-11-21', ai_model: 'gpt-4o', billed_as: ['gpt-4o-2024-08-06'], requests: 2, status: 'equal' },
        billed: { cost: 500.02, input_tokens: 2_000_000, output_tokens: 20 },
        recorded: { cost: 500.02, input_tokens: 2_000_000, output_tokens: 20 },
        difference: { cost: 0, input_tokens: 0, output_tokens: 0 },
      },
      {
        ...{ date: '2026-11-22', ai_model: 'gpt-4o-mini', billed_as: ['GPT four mini'], requests: 1, status: 'different' },
        billed: { cost: 10, input_tokens: 1_000_000, output_tokens: 10 },
        recorded: { cost: 15.0006, input_tokens: 1_000_000, output_tokens: 10 },
        difference: { cost: 5.0006, input_tokens: 0, output_tokens: 0 },
      },
      {
        ...{ date: '2026-11-23', ai_model: 'gpt-3', billed_as: ['gpt-3'], requests: 0, status: 'not_recorded' },
        billed: { cost: 200, input_tokens: 1, output_tokens: 1 },
        recorded: null,
        difference: { cost: -200, input_tokens: -1, output_tokens: -1 },
      },
    ]);
    expect(whole.totals).toEqual({
      billed: { cost: 710.02, input_tokens: 3_000_001, output_tokens: 31 },
      recorded: { cost: 515.0206, input_tokens: 3_000_000, output_tokens: 30 },
      difference: { cost: -194.9994, input_tokens: -1, output_tokens: -1 },
    });
    const found = async (query: string) => (await plane.ask('GET', `${path}/${whole.id}${query}`)).body.data.length;
    expect(await found('?status=different')).toBe(1);
    expect(await found('?status=different&tolerance=60')).toBe(0);
  });

  it('compares several recorded models as one if `models` give them one name', async () => {
    const models = { 'Four mini': 'four', 'gpt-4o': 'four', 'gpt-4o-mini': 'four' };
    const rows = 'date,model,cost\n2026-11-21,gpt-4o-2024-08-06,5.0002\n2026-11-22,Four mini,0.150006\n';
    const { data: lines, totals } = await compare({ data: rows, models, provider: 'openai' });
    expect(lines).toMatchObject([
      { ai_model: 'four', billed_as: ['gpt-4o-2024-08-06'], requests: 2, status: 'equal' },
      { ai_model: 'four', billed_as: ['Four mini'], requests: 1, status: 'equal' },
    ]);
    expect(totals.difference.cost).toBe(0);
  });

  it('compares by day if the bill names no models, and only with the named providers', async () => {
    const days = await compare({ data: 'date,cost\n2026-11-21,2.5001\n2026-11-22,0.15\n', provider_slugs: ['team-a'] });
    expect(days.data).toMatchObject([
      { date: '2026-11-21', ai_model: null, requests: 1, status: 'equal', recorded: { cost: 250.01 } },
      { date: '2026-11-22', ai_model: null, requests: 1, status: 'equal' },
    ]);
    const unbilled = await compare({ data: 'date,model,cost\n2026-11-21,o9,1\n', provider: 'openai' });
    expect(unbilled.data).toMatchObject([
      { ai_model: 'gpt-4o', billed: null, status: 'not_billed', requests: 2 },
      { ai_model: 'o9', recorded: null, status: 'not_recorded' },
    ]);
    expect((await compare({ provider: 'anthropic', data })).data.map(({ status }: LooseBody) => status)).toEqual(
      Array.from({ length: 3 }, () => 'not_recorded'),
    );
  });

  it('lists and deletes, and takes the provider from the format', async () => {
    const openAi = {
      data: [{ start_time: 1_795_219_200, results: [{ amount: { value: 1, currency: 'usd' }, line_item: null }] }],
    };
    const { id } = await compare({ format: 'openai_costs', data: openAi });
    const list = await plane.ask('GET', path);
    expect(list.body.data[0]).toMatchObject({ id, provider: 'openai', format: 'openai_costs', first_day: '2026-11-21' });
    await expectChange(plane, () => plane.ask('DELETE', `${path}/${id}`), {
      ...{ resource: 'reconciliations', action: 'delete', events: [] },
    });
    await expectRefusal(plane, () => plane.ask('GET', `${path}/${id}`), 404, 'AB08', false);
    await expectRefusal(plane, () => plane.ask('DELETE', `${path}/${id}`), 404, 'AB08', true);
  });

  it.each([
    [{ data: 'date\n' }, 'data: the bill has no lines'],
    [{ format: 'xlsx' }, 'format: one of openai_costs, anthropic_costs, anthropic_usage, aws_cur, csv is expected'],
    [{ provider_slugs: [] }, 'provider_slugs: at least one is expected'],
  ])('rejects %j', async (given, message) => {
    const reply = await expectRefusal(plane, () => plane.ask('POST', path, { body: { ...bill, ...given } }), 400, 'AB01', true);
    expect(reply.body.data.message).toContain(message);
  });
});

refusesUnknownKeys('reconciliations', [{ method: 'POST', path, body: bill }]);
refusesMissingScopes('reconciliations', [
  { method: 'POST', path, body: bill },
  { method: 'GET', path },
]);
