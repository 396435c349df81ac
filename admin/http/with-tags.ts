import { raw } from '@mikro-orm/core';
import type { JsonObject } from '../../core/contract/values/json.ts';

/** The condition for rows whose column `tags` has all of these entries; no condition without any. */
export function withTags(tags: JsonObject | undefined): Record<string, never[]> {
  if (tags === undefined) return {};
  return { [raw('tags @> ?::jsonb', [JSON.stringify(tags)])]: [] };
}
