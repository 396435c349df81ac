import * as v from 'valibot';
import { oneOf } from '../../../../core/contract/values/text/one-of.ts';

const text = v.string('a text is expected');
const flag = v.optional(v.boolean('true or false is expected'));
const object = v.record(text, v.unknown(), 'an object is expected');

/** The members of an OpenAPI document that tools are made of. All others are ignored. */
export const openApiDocument = v.looseObject(
  {
    openapi: v.pipe(text, v.regex(/^3\.[12](\.|$)/, 'OpenAPI 3.0, 3.1 or 3.2, or Swagger 2.0, is expected')),
    info: v.looseObject({ title: v.optional(text, ''), version: v.optional(text, ''), description: v.optional(text) }),
    servers: v.optional(
      v.array(
        v.looseObject({ url: text, variables: v.optional(v.record(text, v.looseObject({ default: text }))) }),
        'a list is expected',
      ),
    ),
    paths: v.record(
      v.pipe(text, v.startsWith('/', 'a path begins with /')),
      v.looseObject({}, 'an object is expected'),
      'an object with at least one path is expected',
    ),
  },
  'an object is expected',
);
export type OpenApiDocument = v.InferOutput<typeof openApiDocument>;

export const openApiOperation = v.looseObject(
  {
    operationId: v.optional(text),
    summary: v.optional(text),
    description: v.optional(text),
    parameters: v.optional(v.array(v.unknown(), 'a list is expected'), []),
    requestBody: v.optional(object),
    servers: v.optional(v.array(v.unknown(), 'a list is expected')),
  },
  'an object is expected',
);

export const openApiParameter = v.looseObject({
  name: v.pipe(text, v.minLength(1, 'must not be empty'), v.maxLength(255, 'at most 255 characters')),
  in: oneOf(['path', 'query', 'header', 'cookie']),
  description: v.optional(text),
  required: flag,
  style: v.optional(text),
  explode: flag,
  schema: v.optional(v.union([object, v.boolean()])),
  content: v.optional(v.record(text, v.looseObject({ schema: v.optional(v.union([object, v.boolean()])) }))),
});
export type OpenApiParameter = v.InferOutput<typeof openApiParameter>;

export const openApiBody = v.looseObject({
  description: v.optional(text),
  required: flag,
  content: v.record(text, v.looseObject({ schema: v.optional(v.union([object, v.boolean()])) })),
});
