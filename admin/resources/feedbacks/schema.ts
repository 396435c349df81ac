import * as v from 'valibot';
import { uuid } from '../../http/reply/reply-schemas.ts';
import { tenantEntries } from '../../http/request/schemas.ts';

const traceId = v.pipe(v.string(), v.minLength(1), v.maxLength(255, 'at most 255 characters'));
const value = v.pipe(
  v.number(),
  v.integer('a whole number from -10 to 10 is expected'),
  v.minValue(-10, 'a whole number from -10 to 10 is expected'),
  v.maxValue(10, 'a whole number from -10 to 10 is expected'),
);
/** A weight outside of 0 to 1 counts as 1, as clients of the reference expect. */
const weight = v.nullish(
  v.pipe(
    v.number(),
    v.transform((sent) => (sent >= 0 && sent <= 1 ? sent : 1)),
  ),
  1,
);
const metadataCharsMax = 4_096;
const metadata = v.nullish(
  v.pipe(
    v.record(v.string(), v.unknown()),
    v.check((sent) => JSON.stringify(sent).length <= metadataCharsMax, `at most ${metadataCharsMax} characters of JSON`),
    v.metadata({ jsonSchema: { type: 'object' } }),
  ),
  {},
);

const rating = { value, weight, metadata };
const feedback = v.strictObject({ ...tenantEntries, trace_id: traceId, ...rating });

const manyFeedbacks = v.pipe(
  v.array(feedback),
  v.minLength(1, 'at least one feedback'),
  v.maxLength(100, 'at most 100 feedbacks'),
);
const oneOrMany = v.union([manyFeedbacks, feedback]);

/** One feedback, or up to 100. Runs the option that fits the input, because errors of a union do not name the field. */
export const createBody: typeof oneOrMany = {
  ...oneOrMany,
  '~run': (dataset, config) =>
    (Array.isArray(dataset.value) ? manyFeedbacks : feedback)['~run'](dataset as never, config as never) as never,
};

export const updateBody = v.strictObject({ ...tenantEntries, ...rating });

export const savedReply = v.strictObject({ status: v.literal('success'), message: v.string(), feedback_ids: v.array(uuid) });
