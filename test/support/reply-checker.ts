import { createRequire } from 'node:module';
import type { OpenApiDocument, Operation } from '../../admin/openapi/document.ts';

// The OpenAPI validator depends on ajv. Its copy is used so that both judge by the same version.
const { Ajv2020 } = createRequire(import.meta.resolve('@seriousme/openapi-schema-validator'))('ajv/dist/2020.js') as {
  readonly Ajv2020: new (options: object) => SchemaChecker;
};

interface SchemaChecker {
  addSchema(schema: object): void;
  compile(schema: object): CheckValue;
  errorsText(errors: CheckValue['errors']): string;
}

interface CheckValue {
  (value: unknown): boolean;
  readonly errors?: unknown;
}

interface Described {
  readonly content?: Readonly<Record<string, { readonly schema: object }>>;
  readonly headers?: Readonly<Record<string, object>>;
}

/** Returns how a reply differs from the description of its operation; null if it does not. */
export type ReplyChecker = (operation: Operation, reply: Response, text: string) => string | null;

/** Prepares the schemas of an API description. */
export function createReplyChecker(document: OpenApiDocument): ReplyChecker {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, inlineRefs: false, code: { optimize: false } });
  ajv.addSchema({ $id: 'api', components: document.components });
  /** By schema in the document. */
  const checks = new Map<object, CheckValue>();

  function checkOf(schema: object): CheckValue {
    const known = checks.get(schema);
    if (known) return known;
    const inDocument = JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"api#/components/')) as object;
    const check = ajv.compile(inDocument);
    checks.set(schema, check);
    return check;
  }

  function resolved(described: object): Described {
    const { $ref } = described as { $ref?: string };
    const name = $ref?.split('/').at(-1);
    return name === undefined ? described : ((document.components.responses as Record<string, Described>)[name] as Described);
  }

  return (operation, reply, text) => {
    // A connection test without a gateway gets 503. A 500 is always a defect.
    if (reply.status === 500) return 'is a defect';
    const described = operation.responses[String(reply.status)] ?? operation.responses.default;
    if (!described) return 'is not described';
    const { content, headers } = resolved(described);
    if (headers?.['x-request-id'] && !reply.headers.has('x-request-id')) return 'has no x-request-id';
    if (!content) return null;
    const type = (reply.headers.get('content-type') ?? '').split(';')[0] as string;
    const media = content[type] ?? content[`${type.split('/')[0]}/*`] ?? content['*/*'];
    if (!media) return `has the media type ${type}`;
    if (type !== 'application/json') return null;
    const check = checkOf(media.schema);
    return check(JSON.parse(text)) ? null : ajv.errorsText(check.errors);
  };
}
