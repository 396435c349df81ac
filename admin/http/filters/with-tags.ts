import { raw } from '@mikro-orm/core';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';

/** Returns the condition for rows whose column `tags` has all of these entries; no condition without entries. */
export function withTags(tags: JsonObject | undefined): Record<string, never[]> {
  if (tags === undefined) return {};
  return { [raw('tags @> ?::jsonb', [JSON.stringify(tags)])]: [] };
}
