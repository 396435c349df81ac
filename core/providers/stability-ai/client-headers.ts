import type { ProviderSettings } from '../../contract/provider/provider.ts';
import type { HeaderList } from '../../contract/values/http/http.ts';
import { clientSettings } from './settings.ts';

/** Headers that name the calling application and user (https://platform.stability.ai/docs/api-reference). */
export function clientHeaders(given: ProviderSettings): HeaderList {
  return Object.keys(clientSettings).flatMap((name) => {
    const value = given[name];
    return typeof value === 'string' && value !== '' ? [name.replaceAll('_', '-'), value] : [];
  });
}
