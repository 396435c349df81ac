import type { Identity } from '../../core/contract/plugin/context.ts';
import type { CoreServices } from '../../core/contract/plugin/core-plugin.ts';
import type { ConfigDocument } from '../../core/contract/protocol/documents.ts';
import { headerParam } from '../../core/contract/protocol/header-names.ts';
import { GatewayError } from '../../core/contract/values/errors/errors.ts';
import { isPromise, type Maybe } from '../../core/contract/values/maybe.ts';
import { isUuid } from '../../core/contract/values/text/uuid.ts';

type Documents = CoreServices['documents'];

/** Returns the saved config of this slug in the caller's workspace. Throws GatewayError `invalid_config` if there is none. */
export function savedConfig(identity: Identity, slug: string, documents: Documents): Maybe<ConfigDocument> {
  const document = documents.get('config', `${identity.workspaceId}/${slug}`);
  return isPromise(document) ? document.then((found) => required(found, slug)) : required(document, slug);
}

/** Like `savedConfig`, for the default of a key or a token. Tokens may name it by its id. */
export function defaultConfig(identity: Identity, slugOrId: string, documents: Documents): Maybe<ConfigDocument> {
  return isUuid(slugOrId) ? configById(identity, slugOrId, documents) : savedConfig(identity, slugOrId, documents);
}

/** A cached document may be outdated. Only the slug of the config is used from it, which never changes. */
async function configById(identity: Identity, id: string, documents: Documents): Promise<ConfigDocument> {
  const named = required(await documents.get('config', `${identity.workspaceId}/${id}`), id);
  const current = await documents.get('config', `${identity.workspaceId}/${named.slug}`);
  return required(current?.id === named.id ? current : null, id);
}

function required(document: ConfigDocument | null, name: string): ConfigDocument {
  if (document) return document;
  throw new GatewayError('invalid_config', {
    message: `Invalid config id passed: ${name.slice(0, 255)}. The workspace has no config with this slug or id. GET /v1/configs lists them`,
    param: headerParam('config'),
  });
}
