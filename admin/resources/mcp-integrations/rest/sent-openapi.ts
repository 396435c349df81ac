import * as v from 'valibot';

const operationName = v.pipe(v.string(), v.minLength(1, 'must not be empty'), v.maxLength(2_048, 'at most 2,048 characters'));

/** The OpenAPI document of a REST API, as text in JSON or YAML or as an object, and the operations that become tools. */
export const sentOpenApi = v.optional(
  v.strictObject({
    document: v.optional(
      v.union(
        [v.string(), v.record(v.string(), v.unknown())],
        'an OpenAPI document is expected, as an object or as text in JSON or YAML',
      ),
    ),
    operations: v.optional(v.pipe(v.array(operationName), v.maxLength(200, 'at most 200 operations'))),
  }),
);
export type SentOpenApi = NonNullable<v.InferOutput<typeof sentOpenApi>>;
