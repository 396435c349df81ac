import type * as v from 'valibot';
import type { RequestRecord } from '../../../core/contract/plugin/record/record.ts';
import type { ContentSide, RecordContent } from '../../../core/contract/protocol/record-contents.ts';
import { createMasks, type Masks, withoutVectors } from '../../../core/journal/mask-content.ts';
import { everySecretName } from '../../../core/providers/declarations.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { effectiveSetting, readTenancy } from '../organisations/effective-setting.ts';
import { type ContentServices, sealContents } from './contents.ts';
import type { customLog } from './custom-log-schema.ts';

type CustomLog = v.InferOutput<typeof customLog>;

type Tenant = Pick<RecordContent, 'organisationId' | 'workspaceId'>;

/**
 * Seals the headers and bodies of inserted logs, masked and cut like those of requests, if this workspace stores any. Returns a function that
 * inserts their rows in the transaction of the records. `em` must not be in one.
 */
export async function sealCustomContents(
  em: EntityManager,
  services: ContentServices,
  tenant: Tenant,
  logs: readonly CustomLog[],
  records: readonly RequestRecord[],
): Promise<(tx: EntityManager) => Promise<void>> {
  const { settings } = services;
  if (settings.logBodies === 'off') return none;
  const tenancy = await readTenancy(em, tenant.organisationId, tenant.workspaceId);
  const isErrorOnly = effectiveSetting<0 | 1>(tenancy, 'settings', 'debug_log') === 0;
  if (isErrorOnly && effectiveSetting<0 | 1>(tenancy, 'settings', 'debug_log_error_body') !== 1) return none;
  const masks = createMasks(settings.logMaskedFields, everySecretName);
  const contents = logs.flatMap(({ request, response }, at): RecordContent[] => {
    const { id, createdAt, endpoint, status } = records[at] as RequestRecord;
    const reply = endpoint === 'embed' ? withoutVectors(response.body) : response.body;
    const shown = sideOf(response.headers, reply, masks, settings.logBodyBytesMax);
    const row = { id, createdAt, ...tenant };
    if (!isErrorOnly) {
      return [{ ...row, request: sideOf(request.headers, request.body, masks, settings.logBodyBytesMax), response: shown }];
    }
    if (status < 400) return [];
    return [{ ...row, request: { headers: {}, body: null, omitted: 'not_stored' }, response: { ...shown, headers: {} } }];
  });
  return sealContents(em, services, contents);
}

const none = async (): Promise<void> => {};

function sideOf(
  headers: Readonly<Record<string, string>> | null | undefined,
  body: unknown,
  masks: Masks,
  bytesMax: number,
): ContentSide {
  const shown = masks.headers(Object.entries(headers ?? {}).flat());
  const masked = masks.body(body);
  const bytes = Buffer.from(JSON.stringify(masked));
  if (bytes.length <= bytesMax) return { headers: shown, body: masked, omitted: null };
  return { headers: shown, body: bytes.subarray(0, bytesMax).toString('utf8'), omitted: 'cut' };
}
