import type { ClientHeaders, Operation } from '../../contract/provider/provider.ts';
import { uncounted } from '../../formats/never-streams.ts';
import { idOf } from '../../formats/stored/stored-files.ts';

/**
 * This provider's own files, in its own form. Messages can name them, but they cannot be read back, so clients of the OpenAI
 * form, which create batches from files, get the gateway's own store instead. Only the client may name the beta feature
 * `files-api-2025-04-14`: it selects an older form of the replies, whose lists Anthropic's SDKs do not follow.
 */
export const files = {
  uploadFile: { ...passed((call) => `/files${call.query ? `?${call.query}` : ''}`), serves: isNative, ignoresPurpose: true },
  listFiles: { ...passed((call) => `/files${call.query ? `?${call.query}` : ''}`), serves: isNative },
  retrieveFile: passed((call) => `/files/${idOf(call)}`),
  retrieveFileContent: { ...passed((call) => `/files/${idOf(call)}/content`), passesJson: true },
  deleteFile: {
    ...passed((call) => `/files/${idOf(call)}`),
    fromProvider: (reply, call) =>
      reply.type === 'file_deleted' && !isNative({ header: (name) => call.header?.(name) })
        ? { id: reply.id, object: 'file', deleted: true }
        : reply,
  },
} satisfies Record<string, Operation>;

function isNative(client: Pick<ClientHeaders, 'header'>): boolean {
  return client.header('anthropic-version') !== undefined || client.header('anthropic-beta') !== undefined;
}

function passed(path: Operation['path']): Operation {
  return { path, passesBytes: true, ...uncounted };
}
