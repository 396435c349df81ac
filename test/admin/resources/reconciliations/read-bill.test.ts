import { monitorEventLoopDelay } from 'node:perf_hooks';
import { expect, it } from 'vitest';
import { type BillFormat, readBill } from '../../../../admin/resources/reconciliations/read-bill.ts';

const page = (bucket: object, ...results: object[]) => ({ data: [{ ...bucket, results }], has_more: false, next_page: null });
const line = (
  day: string,
  name: string | null,
  costNano: number | null,
  inputTokens: number | null = null,
  outputTokens = inputTokens,
) => ({
  ...{ day, name, costNano, inputTokens, outputTokens },
});

const openAi = (line_item: string | null, value: number, currency = 'usd') => ({
  amount: { value, currency },
  line_item,
  project_id: null,
});
const anthropic = (more: object) => ({
  currency: 'USD',
  amount: '123.45',
  model: 'claude-sonnet-4-5',
  description: null,
  ...more,
});

it.each<[string, BillFormat, unknown, unknown[]]>([
  [
    'OpenAI: kinds of tokens are summed, and pages follow each other',
    'openai_costs',
    [
      {
        ...page(
          { start_time: 1_730_419_200 },
          openAi('gpt-4o-2024-08-06, input', 0.06),
          openAi('gpt-4o-2024-08-06, cached input', 0.01),
          openAi('priority | gpt-4o-2024-08-06, output, long context', 0.02),
          openAi('gpt-image-1 text, cached input', 0.04),
          openAi('gpt-image-1 image, output', 0.08),
          openAi('assistants api | file search', 0.16),
        ),
        has_more: true,
      },
      page({ start_time: 1_730_505_600 }, openAi('web search tool calls', 1)),
    ],
    [
      line('2024-11-01', 'assistants api | file search', 160_000_000),
      line('2024-11-01', 'gpt-4o-2024-08-06', 90_000_000),
      line('2024-11-01', 'gpt-image-1', 120_000_000),
      line('2024-11-02', 'web search tool calls', 1e9),
    ],
  ],
  [
    'OpenAI without groups',
    'openai_costs',
    page({ start_time: 1_730_419_200 }, openAi(null, 2.5)),
    [line('2024-11-01', null, 2.5e9)],
  ],
  [
    'Anthropic costs are in cents',
    'anthropic_costs',
    page(
      { starting_at: '2026-11-01T00:00:00Z' },
      anthropic({}),
      anthropic({ model: null, description: 'Web Search Usage', amount: '0.5' }),
    ),
    [line('2026-11-01', 'Web Search Usage', 5_000_000), line('2026-11-01', 'claude-sonnet-4-5', 1_234_500_000)],
  ],
  [
    'Anthropic usage counts every kind of input',
    'anthropic_usage',
    page(
      { starting_at: '2026-11-01T00:00:00Z' },
      {
        ...{ uncached_input_tokens: 100, cache_read_input_tokens: 20, output_tokens: 7, model: 'claude-haiku-4-5' },
        cache_creation: { ephemeral_1h_input_tokens: 3, ephemeral_5m_input_tokens: 1 },
      },
    ),
    [line('2026-11-01', 'claude-haiku-4-5', null, 124, 7)],
  ],
  [
    'AWS, first version of the report',
    'aws_cur',
    'lineItem/UsageStartDate,lineItem/LineItemType,lineItem/ProductCode,lineItem/UsageType,lineItem/UnblendedCost,lineItem/CurrencyCode\n' +
      '2026-11-01T00:00:00Z,Usage,AmazonBedrock,USE1-Claude3Sonnet-input-tokens,0.0030000000,USD\n' +
      '2026-11-01T05:00:00Z,Usage,AmazonBedrock,USE1-Claude3Sonnet-output-tokens,0.015,USD\n' +
      '2026-11-01T05:00:00Z,Tax,AmazonBedrock,USE1-Claude3Sonnet-output-tokens,9,USD\n' +
      '2026-11-01T05:00:00Z,Usage,AmazonS3,USE1-TimedStorage-ByteHrs,9,USD\n',
    [line('2026-11-01', 'Claude3Sonnet', 18_000_000)],
  ],
  [
    'AWS, second version, a model of the marketplace',
    'aws_cur',
    'line_item_usage_start_date,line_item_product_code,line_item_usage_type,line_item_unblended_cost,product_product_name\n' +
      '2026-11-01 00:00:00.000,abc123,EUC1-MP:EUC1_InputTokenCount-Units,1.5,Claude Sonnet (Amazon Bedrock Edition)\n',
    [line('2026-11-01', 'Claude Sonnet', 1.5e9)],
  ],
  [
    'AWS, second version, models of the marketplace whose usage types are equal',
    'aws_cur',
    `line_item_usage_start_date,line_item_product_code,line_item_usage_type,line_item_unblended_cost,product\n${[
      ['a1', 'InputTokenCount-Units', 1, 'Claude Haiku 4.5'],
      ['b2', 'InputTokenCount-Units', 2, 'Claude Opus 4.5'],
      ['a1', 'OutputTokenCount_Global-Units', 4, 'Claude Haiku 4.5'],
    ]
      .map(
        ([code, kind, cost, model]) =>
          `2026-11-01,${code},USE1-MP:USE1_${kind},${cost},"{""product_name"":""${model} (Amazon Bedrock Edition)""}"\n`,
      )
      .join(
        '',
      )}2026-11-01,c3,USE1-MP:x,8,"{""product_name"":""Other""}"\n2026-11-01,AmazonBedrock,EU-NovaPro-input-tokens,16,{}\n`,
    [
      line('2026-11-01', 'Claude Haiku 4.5', 5e9),
      line('2026-11-01', 'Claude Opus 4.5', 2e9),
      line('2026-11-01', 'NovaPro', 16e9),
    ],
  ],
  [
    'AWS, usage in tiers and at the Mantle endpoint',
    'aws_cur',
    'line_item_usage_start_date,line_item_product_code,line_item_usage_type,line_item_unblended_cost\n' +
      '2026-11-01,AmazonBedrock,USE1-xai.grok-4.3-mantle-input-tokens-flex,1\n' +
      '2026-11-01,AmazonBedrock,USE1-xai.grok-4.3-mantle-output-tokens-standard,2\n' +
      '2026-11-01,AmazonBedrock,APN1-NovaPro-cache-read-input-token-count-priority,4\n' +
      '2026-11-01,AmazonBedrock,APN1-NovaPro-output-tokens-latency-optimized,8\n',
    [line('2026-11-01', 'NovaPro', 12e9), line('2026-11-01', 'xai.grok-4.3', 3e9)],
  ],
  [
    'CSV, with a byte order mark, quotes, a credit and columns in another order',
    'csv',
    '\ufeffModel,Date,Cost,Input_Tokens,Output_Tokens,Note\n"gpt-4o",2026-11-02,-0.5,10,2,"a ""b"", c"\n,2026-11-01T23:30:00-02:00,1,,,\n',
    [line('2026-11-02', 'gpt-4o', -500_000_000, 10, 2), line('2026-11-02', null, 1e9)],
  ],
])('%s', async (_, format, data, expected) => {
  expect(await readBill(format, data)).toEqual(expected);
});

const results = 'data.data[0].results[0]';
const aws =
  'line_item_line_item_type,line_item_usage_start_date,line_item_product_code,line_item_usage_type,line_item_unblended_cost\n';
it.each<[BillFormat, unknown, string]>([
  ['openai_costs', 'text', 'data: a page {"data": […]} of the report is expected'],
  ['openai_costs', { data: [] }, 'data: the bill has no lines'],
  ['openai_costs', { data: [{}] }, 'data.data[0]: an object with results is expected'],
  ['openai_costs', { data: [], has_more: true }, 'data.has_more: the next page is missing'],
  ['openai_costs', [{ data: [] }, null], 'data[1]: a page {"data": […]} of the report is expected'],
  [
    'openai_costs',
    page({ start_time: 1 }, openAi('a', 1, 'eur')),
    `${results}.amount.currency: got "eur", only USD is supported`,
  ],
  [
    'openai_costs',
    page({ start_time: 1 }, openAi('a', 1e7)),
    `${results}.amount.value: got 10000000, expected an amount such as 12.5, of at most 1000000 US dollars`,
  ],
  [
    'openai_costs',
    page({ start_time: 'x' }, openAi('a', 1)),
    `${results}: start_time of its bucket: got "x", expected a time or day such as 2026-11-23`,
  ],
  ['openai_costs', page({ start_time: 1 }, {}), `${results}.amount: {"value", "currency"} is expected`],
  ['openai_costs', page({ start_time: 1 }, { ...openAi('a', 1), line_item: 5 }), `${results}.line_item: a text is expected`],
  [
    'anthropic_costs',
    page({ starting_at: '2026-11-01' }, anthropic({ amount: 'much' })),
    `${results}.amount: got "much", expected an amount such as 12.5, of at most 1000000 US dollars`,
  ],
  [
    'anthropic_usage',
    page({ starting_at: '2026-11-01' }, { output_tokens: -1 }),
    `${results}.output_tokens: got -1, expected a number of tokens such as 1200`,
  ],
  [
    'anthropic_usage',
    page({ starting_at: '2026-11-01' }, anthropic({ amount: '12.5' })),
    `${results}: uncached_input_tokens or output_tokens is expected. This may be a page of another report`,
  ],
  ['aws_cur', 'a,b\n1,2\n', 'data: the column line_item_usage_start_date is missing'],
  ['csv', {}, 'data: the text of a CSV file is expected'],
  ['csv', '', 'data: the bill has no lines'],
  ['aws_cur', `${aws}Usage,2026-11-01,AmazonEC2,BoxUsage,1\n`, 'data: no usage of Amazon Bedrock in 1 line'],
  [
    'csv',
    'date,cost\n2026-11-01\n',
    'data: line 2 cannot be read as CSV: another number of cells than in the line of the column names',
  ],
  ['csv', 'date,cost\n2026-11-01,"1\n', 'data: line 2 cannot be read as CSV: a quotation mark is not closed'],
  ['csv', 'date;cost\n2026-11-01;1\n', 'data: line 1: columns are expected to be separated by commas'],
  ['csv', 'date,cost,Cost\n2026-11-01,1,2\n', 'data: the column cost occurs twice'],
  ['csv', 'date,model\n2026-11-01,a\n', 'data: a column cost, input_tokens or output_tokens is expected'],
  ['csv', 'date,cost\n2026-13-01,1\n', 'data: line 2, date: got "2026-13-01", expected a time or day such as 2026-11-23'],
  ['csv', 'date,cost\n2026-02-31,1\n', 'data: line 2, date: got "2026-02-31", expected a time or day such as 2026-11-23'],
  [
    'csv',
    'date,cost\n2026-11-01,\n',
    'data: line 2, cost: got nothing, expected an amount such as 12.5, of at most 1000000 US dollars',
  ],
  ['csv', 'date,cost\n0000-01-01,1\n', 'data: line 2, date: got "0000-01-01", expected a time or day such as 2026-11-23'],
  ['csv', 'date,cost\n0001-01-01T00:00:00+05:00,1\n', 'data: line 2, date: got "0001-01-01T00:00:00+05:00", expected'],
  ['csv', 'date,cost\n2026-11-01,0x10\n', 'data: line 2, cost: got "0x10", expected'],
  ['csv', 'date,input_tokens\n2026-11-01,0b11\n', 'data: line 2, input_tokens: got "0b11", expected'],
  ['csv', 'date,cost\n2026-11-01,1\n\n\n2026-11-01,$2\n', 'data: line 5, cost: got "$2", expected'],
  ['csv', 'date,model,cost\n2026-11-01,"two\nlines",1\n2026-11-01,a,x\n', 'data: line 4, cost: got "x", expected'],
  ['csv', 'date,cost,currency\n2026-11-01,1,EUR\n', 'data: line 2, currency: got "EUR", only USD is supported'],
  [
    'csv',
    `date,cost,model\n2026-11-01,1,${'m'.repeat(256)}\n`,
    `data: the model that begins with "${'m'.repeat(40)}" has 256 characters, expected at most 255`,
  ],
])('rejects %s %j', async (format, data, message) => {
  await expect(readBill(format, data)).rejects.toThrow(message);
});

it.each<[string, BillFormat, unknown]>([
  ['many columns', 'csv', `date,${Array.from({ length: 150_000 }, (_, i) => `c${i}`)}\n`],
  ['many rows', 'csv', `date,cost\n${'2026-11-01,1\n'.repeat(75_000)}`],
  ['a long number', 'csv', `date,cost\n2026-11-01,${'1'.repeat(900_000)}x\n`],
  [
    'a long number in JSON',
    'openai_costs',
    page({ start_time: 1 }, { ...openAi('a', 1), amount: { value: `${'1'.repeat(900_000)}x`, currency: 'usd' } }),
  ],
  ['many results', 'openai_costs', page({ start_time: 1 }, ...Array.from({ length: 12_000 }, () => openAi('gpt-4o, input', 1)))],
])('other requests are served while %s are read', async (_, format, data) => {
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  await readBill(format, data).catch(() => {});
  delay.disable();
  // A turn takes a few milliseconds. The bound leaves room for other processes of the machine.
  expect(delay.max / 1e6).toBeLessThan(1_000);
});

it('reads characters of several bytes across the parts that are parsed in one turn', async () => {
  const names = Array.from({ length: 4_000 }, (_, i) => `${i}-🙂é`);
  const lines = await readBill('csv', `date,model,cost\n${names.map((one) => `2026-11-01,${one},1\n`).join('')}`);
  expect(lines.map(({ name }) => name).sort()).toEqual(names.sort());
});
