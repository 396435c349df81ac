import * as v from 'valibot';
import { oneOf } from '../../../../core/contract/values/text/one-of.ts';
import { nullableText, uuid } from '../../../http/reply/reply-schemas.ts';
import { idOrSlug } from '../../../http/request/schemas.ts';
import { secretKey } from '../../secret-references/schema.ts';

/** Null or absent: `string`. */
const valueFormat = v.nullish(oneOf(['string', 'json']));

/** Fields read from secret managers, replacing all previous mappings; null and `[]` clear. */
export const mappingsBody = v.nullish(
  v.pipe(
    v.array(
      v.strictObject({
        /** `key`, or a setting with `configurations.` before it (virtual keys: `model_config.`). */
        target_field: v.pipe(v.string(), v.maxLength(255, 'at most 255 characters')),
        secret_reference_id: idOrSlug,
        secret_key: secretKey,
        value_format: valueFormat,
      }),
    ),
    v.maxLength(50, 'at most 50 fields'),
  ),
);

export type SentMappings = v.InferOutput<typeof mappingsBody>;

export const mappingsReply = v.array(
  v.strictObject({
    target_field: v.string(),
    secret_reference_id: uuid,
    secret_key: nullableText,
    value_format: v.nullable(v.picklist(['string', 'json'])),
  }),
);
