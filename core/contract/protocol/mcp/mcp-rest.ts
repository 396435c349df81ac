import * as v from 'valibot';

const name = v.pipe(v.string(), v.maxLength(255));

/** Location of an argument of a tool in the request to a REST API. */
const restParameter = v.object({
  /** Name of the argument. */
  argument: name,
  /** Name in the path, query or header. */
  name,
  in: v.picklist(['path', 'query', 'header']),
  required: v.boolean(),
  /** Form of lists and objects, as in OpenAPI. `json`: as JSON. */
  style: v.picklist(['simple', 'form', 'spaceDelimited', 'pipeDelimited', 'deepObject', 'json']),
  explode: v.boolean(),
});
export type RestParameter = v.InferOutput<typeof restParameter>;

/** An operation of a REST API as a tool. */
const restOperation = v.object({
  /** The definition that clients see. */
  tool: v.looseObject({ name: v.string() }),
  method: v.picklist(['GET', 'PUT', 'POST', 'DELETE', 'PATCH']),
  /** Below the URL of the integration, with `{name}` for path parameters. */
  path: v.string(),
  parameters: v.array(restParameter),
  /** The argument `body`; null: the operation has none. */
  body: v.nullable(v.object({ contentType: v.string(), required: v.boolean() })),
});
export type RestOperation = v.InferOutput<typeof restOperation>;

/** A REST API whose operations are tools. */
export const restApi = v.object({ title: v.string(), operations: v.array(restOperation) });
export type RestApi = v.InferOutput<typeof restApi>;

/** Name of the argument with the body of a request. */
export const bodyArgument = 'body';

export const formType = 'application/x-www-form-urlencoded';
