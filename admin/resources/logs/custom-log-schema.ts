import * as v from 'valibot';
import { dayMs } from '../../../core/contract/values/time/durations.ts';
import { uuid } from '../../http/reply/reply-schemas.ts';
import { tenantEntries } from '../../http/request/schemas.ts';

/** Maximum number of logs in one request. */
const logsMax = 100;

const methods = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD'] as const;
const headers = v.nullish(v.record(v.string(), v.string()));
const body = v.record(v.string(), v.unknown());
const milliseconds = v.nullish(v.pipe(v.number(), v.minValue(0, 'at least 0'), v.maxValue(dayMs, 'at most a day')));
const url = v.pipe(
  v.string(),
  v.maxLength(2_048, 'at most 2,048 characters'),
  v.metadata({ jsonSchema: { type: 'string', format: 'uri', maxLength: 2_048 } }),
  v.check(
    (text) => /^https?:\/\//i.test(text) && URL.canParse(text),
    'a URL such as https://api.openai.com/v1/chat/completions is expected',
  ),
);

/** Numbers and booleans become text, and null values are left out. */
const metadata = v.nullish(
  v.pipe(
    v.record(
      v.pipe(v.string(), v.maxLength(128, 'keys have at most 128 characters')),
      v.nullish(v.union([v.string(), v.number(), v.boolean()])),
    ),
    v.check((sent) => Object.keys(sent).length <= 50, 'at most 50 entries'),
    v.check((sent) => Object.values(sent).every((value) => String(value).length <= 255), 'values have at most 255 characters'),
    v.transform((sent) =>
      Object.fromEntries(Object.entries(sent).flatMap(([key, value]) => (value == null ? [] : [[key, String(value)]]))),
    ),
  ),
  {},
);

/** A call that a client made without the gateway. */
export const customLog = v.strictObject({
  ...tenantEntries,
  request: v.strictObject({
    url,
    provider: v.nullish(v.pipe(v.string(), v.regex(/^[a-z0-9-]{1,64}$/, 'the id of a provider such as openai is expected'))),
    method: v.nullish(
      v.pipe(v.string(), v.toUpperCase(), v.picklist(methods, `one of ${methods.join(', ')} is expected`)),
      'POST',
    ),
    headers,
    body,
  }),
  response: v.strictObject({
    status: v.nullish(v.pipe(v.number(), v.integer(), v.minValue(100, 'at least 100'), v.maxValue(599, 'at most 599')), 200),
    headers,
    body,
    response_time: milliseconds,
    time: milliseconds,
    streamingMode: v.nullish(v.boolean(), false),
  }),
  metadata,
});

const manyLogs = v.pipe(v.array(customLog), v.minLength(1, 'at least one log'), v.maxLength(logsMax, `at most ${logsMax} logs`));
const oneOrMany = v.union([manyLogs, customLog]);

/** One log, or up to 100. Runs the option that fits the input, because errors of a union do not name the field. */
export const insertBody: typeof oneOrMany = {
  ...oneOrMany,
  '~run': (dataset, config) =>
    (Array.isArray(dataset.value) ? manyLogs : customLog)['~run'](dataset as never, config as never) as never,
};

export const insertReply = v.strictObject({ status: v.literal('success'), message: v.string(), log_ids: v.array(uuid) });
