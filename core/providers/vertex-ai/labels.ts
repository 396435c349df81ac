import type { Operation } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';

/** Prefix of labels made from a request's metadata, so that they do not collide with other labels. */
const prefix = 'svc_gateway_';
/** Google's limits: https://cloud.google.com/resource-manager/docs/labels-overview#requirements */
const labelsMax = 64;
const lengthMax = 63;

/**
 * Returns a Gemini operation whose calls carry the request's metadata as labels, by which Google splits its bills. Labels of the
 * caller take precedence. A request without metadata is sent unchanged.
 */
export function withLabels(operation: Operation): Operation {
  return {
    ...operation,
    toProvider(params, call) {
      const body = operation.toProvider?.(params, call) ?? params;
      const labels = labelsOf(call.metadata ?? {});
      if (labels === null) return body;
      return { ...body, labels: { ...labels, ...(isObject(body.labels) ? body.labels : {}) } };
    },
  };
}

/** Returns labels in lower case, with `_` for characters that labels may not hold; null without metadata. */
function labelsOf(metadata: Readonly<Record<string, string>>): JsonObject | null {
  const entries = Object.entries(metadata).slice(0, labelsMax);
  if (entries.length === 0) return null;
  return Object.fromEntries(entries.map(([name, value]) => [written(prefix + name), written(value)]));
}

function written(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{Ll}\p{Lo}\d_-]/gu, '_')
    .slice(0, lengthMax);
}
