import { createHash } from 'node:crypto';
import type { OpenApiDocument, Operation, Parameter } from './document.ts';
import type { JsonSchema } from './to-json-schema.ts';

/** The HTML page without scripts and external resources, and its content security policy. */
export interface DocsPage {
  readonly html: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Returns the API description as a page. Find-in-page opens collapsed sections. */
export function docsPage(document: OpenApiDocument): DocsPage {
  const byTag = new Map<string, string[]>(document.tags.map((tag) => [tag.name, []]));
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      for (const tag of operation.tags) byTag.get(tag)?.push(operationHtml(method, path, operation));
    }
  }
  const tags = [...byTag];
  const links = tags.map(([tag]) => `<a href="#${escapeHtml(tag)}">${escapeHtml(tag)}</a>`).join(' ');
  const sections = tags.map(([tag, parts]) => `<h2 id="${escapeHtml(tag)}">${escapeHtml(tag)}</h2>${parts.join('')}`);
  const text = String(document.info.description).split('\n\n');
  const html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>AI gateway API</title>
<meta name="viewport" content="width=device-width"><style>${style}</style></head><body><h1>AI gateway API</h1>
${text.map((part) => `<p>${inlineHtml(part)}</p>`).join('')}
<p>As data: <a href="openapi.json">openapi.json</a> (OpenAPI ${document.openapi}). Paths are below <code>/v1</code>; those of the control plane also below <code>/v2</code>.</p>
<nav>${links}</nav>${sections.join('')}</body></html>`;
  return {
    html,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': `default-src 'none'; style-src '${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    },
  };
}

function operationHtml(method: string, path: string, operation: Operation): string {
  const scopes = operation['x-svc-scopes'];
  const needs =
    scopes.length === 0 ? '' : `<p>Scope: ${scopes.map((scope) => `<code>${escapeHtml(scope)}</code>`).join(' or ')}</p>`;
  const parameters = operation.parameters.map(parameterHtml).join('');
  const body = Object.values(operation.requestBody?.content ?? {})[0]?.schema;
  const done = operation.responses['200'] as { content: Record<string, { schema: JsonSchema }> } | undefined;
  const reply = done?.content['application/json'];
  return `<details><summary><b class="${method}">${method.toUpperCase()}</b> <code>${escapeHtml(path)}</code> ${escapeHtml(operation.summary)}</summary>${needs}${
    parameters === '' ? '' : `<h4>Parameters</h4><ul>${parameters}</ul>`
  }${body ? `<h4>Body</h4>${schemaHtml(body)}` : ''}<h4>Reply</h4>${reply ? schemaHtml(reply.schema) : ''}</details>`;
}

function parameterHtml({ name, in: place, required, schema, description }: Parameter): string {
  const more = description ? ` – ${inlineHtml(description)}` : '';
  return `<li><code>${escapeHtml(name)}</code> <i>${place}${required ? ', required' : ''}</i> ${escapeHtml(kindOf(schema))}${more}</li>`;
}

/** Objects and arrays of objects as nested lists; everything else in words. */
function schemaHtml(schema: JsonSchema): string {
  const inner = schema.type === 'array' ? ((schema.items ?? {}) as JsonSchema) : schema;
  const properties = Object.entries((inner.properties ?? {}) as Record<string, JsonSchema>);
  if (properties.length === 0) return `<p>${escapeHtml(kindOf(schema))}</p>`;
  const required = new Set((inner.required as string[] | undefined) ?? []);
  const items = properties.map(([name, part]) => {
    const object = objectIn(part);
    return `<li><code>${escapeHtml(name)}</code>${required.has(name) ? ' <i>required</i>' : ''} ${escapeHtml(kindOf(part))}${
      object ? schemaHtml(object) : ''
    }</li>`;
  });
  return `<ul>${items.join('')}</ul>`;
}

/** Returns the part of a schema that has properties: itself, its items, or one of its alternatives. */
function objectIn(schema: JsonSchema): JsonSchema | null {
  const candidates = [schema, schema.items, ...((schema.anyOf as unknown[] | undefined) ?? [])] as (JsonSchema | undefined)[];
  return candidates.find((one) => one?.properties) ?? null;
}

function kindOf(schema: JsonSchema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (Array.isArray(schema.enum)) return schema.enum.map((one) => JSON.stringify(one)).join(' | ');
  if (Array.isArray(schema.anyOf)) return [...new Set(schema.anyOf.map((one) => kindOf(one as JsonSchema)))].join(' | ');
  if (typeof schema.$ref === 'string') return schema.$ref.split('/').at(-1) ?? '';
  if (schema.type === 'array') return `array of ${kindOf((schema.items ?? {}) as JsonSchema)}`;
  return [schema.type ?? 'anything', schema.format ? `(${schema.format})` : ''].join(' ').trim();
}

function inlineHtml(text: string): string {
  return escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>');
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}

const style = `body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}
code{font-family:ui-monospace,monospace;font-size:.9em;background:#f2f2f2;padding:0 .2em;border-radius:3px}nav a{margin-right:.6em}
details{border-top:1px solid #ddd;padding:.4rem 0}summary{cursor:pointer}summary b{display:inline-block;width:4.5em}
.get{color:#06c}.post{color:#080}.put{color:#a60}.delete{color:#b00}h4{margin:.6em 0 0}ul{margin:.2em 0;padding-left:1.4em}
@media (prefers-color-scheme:dark){body{color:#ddd;background:#181818}code{background:#2a2a2a}details{border-color:#444}a{color:#8bf}}`;

const styleHash = `sha256-${createHash('sha256').update(style).digest('base64')}`;
