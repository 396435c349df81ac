import { expect, it } from 'vitest';
import { apiKeys } from '../../../../admin/resources/api-keys/entity.ts';
import {
  keyOptions,
  loadedFields,
  optionBounds,
  optionColumns,
  optionDefaults,
  sentOptions,
} from '../../../../admin/resources/api-keys/options.ts';
import { createBodyOf, updateBody } from '../../../../admin/resources/api-keys/schema.ts';
import { apiKeyReply } from '../../../../admin/resources/api-keys/to-reply.ts';
import { apiKeyDocument, keyOptionsOf } from '../../../../core/contract/protocol/documents.ts';

it.each(Object.entries(keyOptions))(
  'API-key option %s: column, default, bodies, reply and document follow from its row',
  (name, option) => {
    expect(Object.keys(apiKeys.meta.properties)).toContain(name);
    expect(optionDefaults).toHaveProperty(name, option.initial);
    for (const body of [createBodyOf('workspace-service'), updateBody]) expect(body.entries).toHaveProperty(option.field);
    expect(apiKeyReply.entries).toHaveProperty(option.field);
    expect('column' in option).toBe(name in apiKeyDocument.entries);
    if ('column' in option) expect(optionColumns.split(', ')).toContain(`k.${option.column}`);
    // A key cannot change what gateways enforce for it, and organisation keys call no gateway.
    const changed = {};
    expect(optionBounds({ [name]: changed }).includes(changed)).toBe('column' in option);
    expect(loadedFields({ [option.field]: changed })).toEqual('column' in option ? [option.field] : []);
    expect(loadedFields({ [option.field]: option.initial })).toEqual([]);
  },
);

it('API-key options: a body sets what it names, and null sets the default', () => {
  expect(sentOptions({})).toEqual({});
  expect(sentOptions({ reject_unmetered_requests: true, alert_emails: null, description: null })).toEqual({
    rejectUnmetered: true,
    alertEmails: [],
    description: null,
  });
});

it('API-key options: the identity of a caller carries those of its document', () => {
  const document = { rejectUnmetered: true, digest: 'secret' };
  expect(keyOptionsOf(document as never)).toEqual({ rejectUnmetered: true });
});
