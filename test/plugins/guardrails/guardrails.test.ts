import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { chatReply, chatStream, replyWith, type Script } from '../../../core/test-kit/pipeline-harness.ts';
import { ask, hook, json, match, user } from './ask-gateway.ts';

describe('verdict, status and body of a chat completion', () => {
  const passes = { before: [true], after: [] };
  const failsBefore = { before: [false], after: [] };
  const failsAfter = { before: [], after: [false] };
  it.each<[string, JsonObject, number, number, { before: boolean[]; after: boolean[] } | null]>([
    ['input passes', { input_guardrails: [match('hello')] }, 200, 1, passes],
    ['input passes, deny', { input_guardrails: [match('hello', { deny: true })] }, 200, 1, passes],
    ['input fails', { input_guardrails: [match('zz')] }, 246, 1, failsBefore],
    ['input fails, deny false', { input_guardrails: [match('zz', { deny: false })] }, 246, 1, failsBefore],
    ['input fails, deny', { input_guardrails: [match('zz', { deny: true })] }, 446, 0, failsBefore],
    ['input fails, deny, hook form', { before_request_hooks: [hook('zz', { deny: true })] }, 446, 0, failsBefore],
    ['output passes', { output_guardrails: [match('hello')] }, 200, 1, { before: [], after: [true] }],
    ['output fails', { output_guardrails: [match('zz')] }, 246, 1, failsAfter],
    ['output fails, deny', { output_guardrails: [match('zz', { deny: true })] }, 446, 1, failsAfter],
    ['output fails, deny, hook form', { after_request_hooks: [hook('zz', { deny: true })] }, 446, 1, failsAfter],
    [
      'input fails, output passes',
      { input_guardrails: [match('zz')], output_guardrails: [match('hello')] },
      246,
      1,
      { before: [false], after: [true] },
    ],
    [
      'input passes, output denies',
      { input_guardrails: [match('hello')], output_guardrails: [match('zz', { deny: true })] },
      446,
      1,
      { before: [true], after: [false] },
    ],
    [
      'two inputs, one denies',
      { input_guardrails: [match('zz', { deny: true }), match('hello')] },
      446,
      0,
      { before: [false, true], after: [] },
    ],
    ['input async, fails, deny', { input_guardrails: [match('zz', { deny: true, async: true })] }, 200, 1, null],
    ['output async, fails, deny', { output_guardrails: [match('zz', { deny: true, async: true })] }, 200, 1, null],
    [
      'check disabled',
      { input_guardrails: [{ 'default.regexMatch': { rule: 'zz', is_enabled: false }, deny: true }] },
      200,
      1,
      passes,
    ],
    ['no checks', { before_request_hooks: [{ id: 'g', checks: [], deny: true }] }, 200, 1, passes],
    ['id without prefix', { input_guardrails: [{ regexMatch: { rule: 'zz' }, deny: true }] }, 446, 0, failsBefore],
    ['empty lists', { input_guardrails: [], output_guardrails: [] }, 200, 1, null],
  ])('%s', async (_name, config, status, calls, verdicts) => {
    const asked = await ask(config);
    expect([asked.status, asked.calls]).toEqual([status, calls]);
    const body = json(asked.sink.text);
    expect(body.hook_results ?? null).toEqual(
      verdicts && {
        before_request_hooks: verdicts.before.map((verdict) => expect.objectContaining({ verdict })),
        after_request_hooks: verdicts.after.map((verdict) => expect.objectContaining({ verdict })),
      },
    );
    if (status === 446) {
      expect(body.error).toEqual({
        message: 'The guardrail checks defined in the config failed. You can find more information in the `hook_results` object.',
        type: 'hooks_failed',
        param: null,
        code: null,
      });
      expect(Object.keys(body)).toEqual(['error', 'hook_results']);
    } else expect(body.choices).toEqual(chatReply('hello').choices);
  });

  it('shows each guardrail and check with all members, in the order of the reference', async () => {
    const { sink } = await ask({ input_guardrails: [match('^hel(?<rest>lo)( w)?', { id: 'mine' })] });
    const [result] = json(sink.text).hook_results?.before_request_hooks ?? [];
    expect(
      JSON.stringify(result)
        .replace(/"execution_time":\d+/g, '"execution_time":0')
        .replace(/"created_at":"[^"]{24}"/g, '"created_at":""'),
    ).toBe(
      JSON.stringify({
        verdict: true,
        id: 'mine',
        transformed: false,
        checks: [
          {
            data: {
              regexPattern: '^hel(?<rest>lo)( w)?',
              not: false,
              verdict: true,
              explanation: "The regex pattern '^hel(?<rest>lo)( w)?' successfully matched the text.",
              matchDetails: { matchedText: 'hello w', index: 0, groups: { rest: 'lo' }, captures: ['lo', ' w'] },
              textExcerpt: 'hello world',
            },
            verdict: true,
            id: 'default.regexMatch',
            execution_time: 0,
            transformed: false,
            created_at: '',
            log: null,
            fail_on_error: false,
          },
        ],
        feedback: null,
        execution_time: 0,
        async: false,
        type: 'guardrail',
        created_at: '',
        deny: false,
      }),
    );
  });

  it.each([
    [
      'hello',
      {
        value: 5,
        weight: 1,
        metadata: { user: 'u', successfulChecks: 'default.regexMatch', failedChecks: '', erroredChecks: '' },
      },
      { value: 5, weight: 1, metadata: { user: 'u' } },
    ],
    [
      'zz',
      { value: -5, weight: 0.5, metadata: { successfulChecks: '', failedChecks: 'default.regexMatch', erroredChecks: '' } },
      { value: -5, weight: 0.5 },
    ],
  ])('shows and records the feedback of the verdict: %s', async (rule, feedback, recorded) => {
    const on_success = { feedback: { value: 5, weight: 1, metadata: { user: 'u' } } };
    const { sink, record } = await ask({
      input_guardrails: [match(rule, { on_success, on_failure: { feedback: { value: -5, weight: 0.5 } } })],
    });
    expect(json(sink.text).hook_results?.before_request_hooks?.[0]?.feedback).toEqual(feedback);
    expect(record?.guardrails?.[0]?.feedback).toEqual(recorded);
  });

  it('adds the results to an error of the provider', async () => {
    const input_guardrails = [match('hello')];
    const failed = await ask({ input_guardrails }, { scripts: [replyWith(500, { error: { message: 'boom' } })] });
    expect([failed.status, json(failed.sink.text).hook_results?.before_request_hooks?.length]).toEqual([500, 1]);
  });

  it('checks every choice of a reply', async () => {
    const reply = chatReply('fine') as { choices: JsonObject[] };
    reply.choices.push({ index: 1, message: { role: 'assistant', content: 'a secret' }, finish_reason: 'stop' });
    const config = { output_guardrails: [{ 'default.contains': { words: ['secret'], operator: 'none' }, deny: true }] };
    expect((await ask(config, { scripts: [replyWith(200, reply)] })).status).toBe(446);
  });
});

describe('the record', () => {
  it('holds every guardrail that ran, without texts', async () => {
    const { record } = await ask({
      input_guardrails: [match('hello', { id: 'in' }), match('zz', { id: 'later', async: true, deny: true })],
      output_guardrails: [match('zz', { id: 'out', deny: true })],
    });
    expect(record).toMatchObject({ status: 446, outcome: 'failed', errorCode: 'response_denied' });
    const check = (verdict: boolean) => ({ id: 'default.regexMatch', verdict, error: null, failedOpen: false });
    expect(record?.guardrails).toMatchObject([
      { id: 'later', side: 'input', verdict: false, async: true, deny: false, checks: [check(false)] },
      { id: 'in', side: 'input', verdict: true, async: false, deny: false, targetPath: null, checks: [check(true)] },
      { id: 'out', side: 'output', verdict: false, deny: true, targetPath: 'config', checks: [check(false)] },
    ]);
    expect(JSON.stringify(record)).not.toContain('hello');
  });

  it('holds a denied request as refused', async () => {
    const { record } = await ask({ input_guardrails: [match('zz', { id: 'in', deny: true })] });
    expect(record).toMatchObject({ status: 446, outcome: 'refused', attempts: [], guardrails: [{ id: 'in', deny: true }] });
  });
});

describe('fallback and retry', () => {
  const denies = [match('zz', { deny: true })];
  const targets = (...own: JsonObject[]) => own.map((more, index) => ({ provider: index === 0 ? '@one' : '@two', ...more }));
  it.each<[string, JsonObject, Script[], number, number]>([
    [
      'output of target 1 denies',
      { strategy: { mode: 'fallback', on_status_codes: [446] }, targets: targets({ output_guardrails: denies }, {}) },
      [],
      200,
      2,
    ],
    [
      'output of target 1 denies, no codes',
      { strategy: { mode: 'fallback' }, targets: targets({ output_guardrails: denies }, {}) },
      [],
      200,
      2,
    ],
    [
      'output of target 1 denies, other codes',
      { strategy: { mode: 'fallback', on_status_codes: [500] }, targets: targets({ output_guardrails: denies }, {}) },
      [],
      446,
      1,
    ],
    [
      'input of target 1 denies',
      { strategy: { mode: 'fallback', on_status_codes: [446] }, targets: targets({ input_guardrails: denies }, {}) },
      [],
      200,
      1,
    ],
    [
      'output of target 1 fails, 246 listed',
      { strategy: { mode: 'fallback', on_status_codes: [246] }, targets: targets({ output_guardrails: [match('zz')] }, {}) },
      [],
      200,
      2,
    ],
    [
      'output of target 1 fails, no codes',
      { strategy: { mode: 'fallback' }, targets: targets({ output_guardrails: [match('zz')] }, {}) },
      [],
      246,
      1,
    ],
    [
      'inherited output denies at both',
      { strategy: { mode: 'fallback', on_status_codes: [446] }, output_guardrails: denies, targets: targets({}, {}) },
      [],
      446,
      2,
    ],
    [
      'own list replaces the inherited one',
      { strategy: { mode: 'single' }, input_guardrails: denies, targets: targets({ input_guardrails: [match('hello')] }) },
      [],
      200,
      1,
    ],
    [
      'an empty list replaces nothing',
      { strategy: { mode: 'single' }, input_guardrails: denies, targets: targets({ input_guardrails: [] }) },
      [],
      446,
      0,
    ],
    [
      'retry on 446, second reply passes',
      { retry: { attempts: 2, on_status_codes: [446] }, output_guardrails: denies },
      [replyWith(200, chatReply('no')), replyWith(200, chatReply('zz'))],
      200,
      2,
    ],
    ['retry on 446, no reply passes', { retry: { attempts: 2, on_status_codes: [446] }, output_guardrails: denies }, [], 446, 3],
    [
      'retry on 246, second reply passes',
      { retry: { attempts: 2, on_status_codes: [246] }, output_guardrails: [match('zz')] },
      [replyWith(200, chatReply('no')), replyWith(200, chatReply('zz'))],
      200,
      2,
    ],
    [
      'retry on 446, input of the target denies',
      {
        strategy: { mode: 'single' },
        retry: { attempts: 2, on_status_codes: [446] },
        targets: targets({ input_guardrails: denies }),
      },
      [],
      446,
      0,
    ],
  ])('%s', async (_name, config, scripts, status, calls) => {
    const { provider: _, ...rest } = { provider: undefined, ...config };
    const asked = await ask(config.targets ? { ...rest, provider: undefined } : rest, scripts.length > 0 ? { scripts } : {});
    expect([asked.status, asked.calls]).toEqual([status, calls]);
  });

  it('bills the reply that a retry on 246 replaces', async () => {
    const scripts = [replyWith(200, chatReply('no')), replyWith(200, chatReply('zz'))];
    const once = await ask({}, { scripts: [replyWith(200, chatReply('zz'))] });
    const twice = await ask({ retry: { attempts: 1, on_status_codes: [246] }, output_guardrails: [match('zz')] }, { scripts });
    expect(twice.record?.inputTokens).toBe(2 * (once.record?.inputTokens ?? 0));
  });

  it('sends the unchanged request to the next target', async () => {
    const replaces = { 'default.regexReplace': { rule: 'hello', redactText: 'X' } };
    const config = {
      provider: undefined,
      strategy: { mode: 'fallback' },
      targets: targets({ input_mutators: [replaces] }, {}),
    };
    const { gateway } = await ask(config, { scripts: [replyWith(500, {}), replyWith(200, chatReply('ok'))] });
    expect(gateway.calls.map(({ body }) => JSON.parse(String(body)).messages[0].content)).toEqual(['X world', 'hello world']);
  });
});

describe('streams', () => {
  const stream = (config: JsonObject, more: JsonObject = {}) =>
    ask(config, { body: { ...user('hello world'), stream: true, ...more }, scripts: [chatStream(['hel', 'lo'])] });
  const deny = { deny: true };
  it.each<[string, JsonObject, number]>([
    ['output passes', { output_guardrails: [match('^hello$', deny)] }, 200],
    ['output denies', { output_guardrails: [match('zz', deny)] }, 446],
    ['output fails, buffer', { output_guardrails: [match('zz', { stream: 'buffer' })] }, 246],
    ['output fails, observe by default', { output_guardrails: [match('zz')] }, 200],
    ['output denies, observe', { output_guardrails: [match('zz', { deny: true, stream: 'observe' })] }, 200],
    ['output denies, async', { output_guardrails: [match('zz', { deny: true, async: true })] }, 200],
    ['input fails', { input_guardrails: [match('zz')] }, 246],
    ['input denies', { input_guardrails: [match('zz', deny)] }, 446],
  ])('%s', async (_name, config, status) => {
    const asked = await stream(config);
    expect(asked.status).toBe(status);
    expect(asked.sink.text.includes('hook_results')).toBe(status === 446);
    expect(asked.sink.text.includes('"hel"')).toBe(status !== 446);
    const fails = JSON.stringify(config).includes('zz');
    expect(asked.record?.guardrails).toMatchObject([{ verdict: !fails }]);
  });

  it('replaces a text that is split over events', async () => {
    const asked = await stream({ output_mutators: [{ 'default.regexReplace': { rule: 'ell', redactText: '***' } }] });
    expect(textOf(asked.sink.text)).toBe('h***o');
    expect(asked.sink.text.trimEnd().endsWith('data: [DONE]')).toBe(true);
  });

  it('shows the results of the request in the first event if the format need not be strict', async () => {
    const asked = await stream({ input_guardrails: [match('hello', { id: 'g' })], strict_open_ai_compliance: false });
    const [first] = asked.sink.text.split('\n\n');
    expect(JSON.parse((first ?? '').slice(6))).toMatchObject({
      hook_results: { before_request_hooks: [{ id: 'g', verdict: true }] },
    });
    expect(textOf(asked.sink.text)).toBe('hello');
  });

  function textOf(stream: string): string {
    const events = stream.split('\n\n').filter((event) => event.startsWith('data: {'));
    return events.map((event) => JSON.parse(event.slice(6)).choices?.[0]?.delta?.content ?? '').join('');
  }
});

describe('configs that are rejected', () => {
  it.each<[JsonObject, string]>([
    [{ input_guardrails: [{ 'default.nope': {} }] }, 'input_guardrails[0].default.nope: there is no check default.nope'],
    [{ input_guardrails: [{ 'default.wordCount': { minWords: 'a' } }] }, 'input_guardrails[0].default.wordCount.minWords'],
    [{ input_guardrails: [{ 'default.wordCount': { least: 1 } }] }, 'input_guardrails[0].default.wordCount.least'],
    [{ before_request_hooks: [hook('(a')] }, 'before_request_hooks[0].checks[0].parameters.rule: not a valid RE2 pattern'],
    [{ before_request_hooks: [hook('(?=a)')] }, 'before_request_hooks[0].checks[0].parameters.rule: not a valid RE2 pattern'],
    [{ before_request_hooks: [hook('a'.repeat(257))] }, 'before_request_hooks[0].checks[0].parameters.rule'],
    [{ input_guardrails: [{ 'default.jsonSchema': { schema: {} } }] }, 'default.jsonSchema checks responses only'],
    [
      { output_guardrails: [{ 'default.jsonSchema': { schema: { type: 'nope' } } }] },
      'output_guardrails[0].default.jsonSchema.schema',
    ],
    [{ input_mutators: [match('a', { async: true })] }, 'input_mutators[0].async: a mutator cannot be asynchronous'],
    [{ input_guardrails: [match('a', { stream: 'buffer' })] }, 'input_guardrails[0].stream: allowed on output guardrails only'],
    [{ output_guardrails: [match('a', { stream: 'windows' })] }, 'output_guardrails[0].stream'],
    [{ input_guardrails: [match('a', { stream: 'window' })] }, 'input_guardrails[0].stream: allowed on output guardrails only'],
    [
      { output_guardrails: [match('a', { stream: 'window', async: true })] },
      'output_guardrails[0].stream: window contradicts async',
    ],
    [{ input_guardrails: [match('a', { soft_deny_200: true })] }, 'input_guardrails[0].soft_deny_200: requires deny'],
    [{ start_hooks: [hook('a')] }, 'start_hooks[0].checks[0].parameters: default.regexMatch checks requests and responses only'],
    [{ start_hooks: [{ checks: [{ id: 'default.notNull' }] }] }, 'default.notNull checks responses only'],
    [
      { strategy: { mode: 'single' }, targets: [{ provider: '@one', start_hooks: ['pg-a'] }] },
      'targets[0].start_hooks: allowed at the root only',
    ],
    [
      { strategy: { mode: 'single' }, targets: [{ provider: '@one', input_guardrails: [match('(')] }] },
      'targets[0].input_guardrails[0].default.regexMatch.rule',
    ],
  ])('%j', async (config, expected) => {
    const { status, sink, calls } = await ask(config);
    expect([status, calls]).toEqual([400, 0]);
    expect(json(sink.text).error).toMatchObject({ message: expect.stringContaining(expected) });
  });
});

describe('the record of a request with many results of guardrails', () => {
  it('lists 200 results and all denials, and counts the others', async () => {
    const short = (rule: string, more = {}) => ({ 'default.regexMatch': { rule }, ...more });
    const guardrails = [...Array.from({ length: 19 }, () => short('h')), short('z', { deny: true })];
    const target = { provider: '@one', output_guardrails: guardrails };
    const { record, calls } = await ask(
      {
        strategy: { mode: 'fallback', on_status_codes: [446] },
        targets: Array.from({ length: 12 }, () => target),
        provider: undefined as never,
      },
      { scripts: Array.from({ length: 12 }, () => replyWith(200, chatReply('hello'))) },
    );
    expect([calls, record?.guardrails?.length, record?.guardrailsOmitted]).toEqual([12, 202, 38]);
    expect(record?.guardrails?.filter(({ deny }) => deny)).toHaveLength(12);
  });
});
