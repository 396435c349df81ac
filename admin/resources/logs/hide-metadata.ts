import type { Settings } from '../../../config/settings.ts';
import type { LogContent } from './contents.ts';

type HeaderSettings = Pick<Settings, 'headerPrefix' | 'headersToMetadata'>;

/** Removes the headers that carry the metadata of a request, for callers who may not read it. */
export function withoutMetadataHeaders(content: LogContent, settings: HeaderSettings): LogContent {
  const { request, exchange } = content;
  const names = new Set(
    [`${settings.headerPrefix}metadata`, 'baggage', ...settings.headersToMetadata].map((name) => name.toLowerCase()),
  );
  const visible = (headers: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(headers).filter(([name]) => !names.has(name.toLowerCase())));
  return {
    ...content,
    request: { ...request, headers: visible(request.headers) },
    exchange: exchange && { ...exchange, request: { ...exchange.request, headers: visible(exchange.request.headers) } },
  };
}
