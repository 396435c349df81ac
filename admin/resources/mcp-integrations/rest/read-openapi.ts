import { upgrade } from '@scalar/openapi-upgrader';
import * as v from 'valibot';
import { type Document, isScalar, LineCounter, parseDocument, visit } from 'yaml';
import { pathOf, reasonOf } from '../../../../core/contract/values/errors/input-issues.ts';
import { messageOf } from '../../../../core/contract/values/errors/message-of.ts';
import { isObject, type JsonObject } from '../../../../core/contract/values/json/json.ts';
import { isStorable } from '../../../../core/contract/values/json/storable-json.ts';
import { invalid } from '../../../http/errors.ts';
import { documentField } from './document-field.ts';
import { listOperations } from './list-operations.ts';
import { type OpenApiDocument, openApiDocument } from './openapi-schema.ts';

/** Maximum length of a document as JSON. YAML can repeat parts by aliases. */
const lengthMax = 1_048_576;
const depthMax = 100;
/** Maximum number of members of all objects: the main thread parses and stores the document in one turn. */
const membersMax = 30_000;
const operationsMax = 5_000;

/** Returns a sent document in the form of OpenAPI 3.1. Throws AB01 with the field, and with the line of a syntax error. */
export function readOpenApi(sent: string | JsonObject): OpenApiDocument {
  const value = plain(typeof sent === 'string' ? parse(sent) : sent);
  const parsed = v.safeParse(openApiDocument, upgraded(value));
  if (parsed.success) return requireFew(parsed.output);
  const [issue] = parsed.issues;
  const path = [documentField, pathOf(issue, '')].filter(Boolean).join('.');
  throw invalid(`${path}: ${reasonOf(issue)}`);
}

/** Throws AB01 for more operations than a reply can list without a delay of other requests. */
function requireFew(document: OpenApiDocument): OpenApiDocument {
  if (listOperations(document).length > operationsMax)
    throw invalid(`${documentField}.paths: at most ${operationsMax} operations`);
  return document;
}

/** Parses JSON or YAML. JSON is YAML too, but is parsed much faster alone. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (thrown) {
    if (text.trimStart().startsWith('{')) throw invalid(`${documentField}: the text is not valid JSON: ${messageOf(thrown)}`);
  }
  try {
    const lines = new LineCounter();
    // The check of the library compares each key with all others.
    const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false });
    const [error] = document.errors;
    const issue = error ? { at: error.pos[0], message: error.message } : repeatedKey(document);
    if (issue) {
      const { line, col } = lines.linePos(issue.at);
      throw invalid(`${documentField}: line ${line}, column ${col}: ${issue.message}`);
    }
    return document.toJS({ maxAliasCount: 100 });
  } catch (thrown) {
    throw thrown instanceof RangeError || thrown instanceof ReferenceError ? refused(thrown) : thrown;
  }
}

/** Returns the position of a key that its map has twice; null if there is none. */
function repeatedKey(document: Document): { at: number; message: string } | null {
  let found: { at: number; message: string } | null = null;
  visit(document, {
    Map(_, { items }) {
      const known = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        if (known.has(key.value)) {
          found = { at: key.range?.[0] ?? 0, message: 'Map keys must be unique' };
          return visit.BREAK;
        }
        known.add(key.value);
      }
      return undefined;
    },
  });
  return found;
}

/** Returns the value as plain JSON: a tree without shared parts, of limited size and depth. */
function plain(value: unknown): JsonObject {
  if (!isObject(value)) throw invalid(`${documentField}: an OpenAPI document is expected, as JSON or YAML`);
  let text: string;
  try {
    text = JSON.stringify(value);
  } catch (thrown) {
    throw refused(thrown);
  }
  if (text.length > lengthMax) throw invalid(`${documentField}: at most ${lengthMax} characters of JSON`);
  if (!isStorable(value)) throw invalid(`${documentField}: a text contains U+0000 or half of a surrogate pair`);
  const { depth, members } = measure(text);
  if (depth > depthMax) throw invalid(`${documentField}: at most ${depthMax} levels`);
  if (members > membersMax) throw invalid(`${documentField}: at most ${membersMax} keys`);
  return JSON.parse(text);
}

/** Returns the depth of nested lists and objects, and the number of members of all objects. The JSON has no white space. */
function measure(json: string): { readonly depth: number; readonly members: number } {
  let [depth, deepest, members] = [0, 0, 0];
  for (const [token] of json.matchAll(/"(?:[^"\\]|\\.)*":?|[[{\]}]/g)) {
    if (token === '[' || token === '{') deepest = Math.max(deepest, ++depth);
    else if (token === ']' || token === '}') depth--;
    else if (token.endsWith(':')) members++;
  }
  return { depth: deepest, members };
}

function upgraded(value: JsonObject): unknown {
  try {
    return upgrade(value, '3.1');
  } catch (thrown) {
    throw refused(thrown);
  }
}

function refused(thrown: unknown): Error {
  return invalid(`${documentField}: ${messageOf(thrown)}`);
}
