import type { ProviderSettings } from '../../contract/provider/provider.ts';
import type { HeaderList } from '../../contract/values/http/http.ts';
import { headerSettings } from './settings.ts';

/**
 * Headers that select the part of an endpoint and configure it
 * (docs.aws.amazon.com/sagemaker/latest/APIReference/API_runtime_InvokeEndpoint.html).
 */
export function endpointHeaders(given: ProviderSettings): HeaderList {
  const headers: HeaderList = [];
  for (const name of Object.keys(headerSettings)) {
    const value = given[name];
    if (typeof value === 'string' && value !== '') headers.push(headerOf(name), value);
  }
  return headers;
}

/** Headers that select the model or variant of an endpoint. */
export const modelHeaders: readonly string[] = Object.entries(headerSettings).flatMap(([name, { choosesModel }]) =>
  choosesModel ? [headerOf(name)] : [],
);

function headerOf(setting: string): string {
  return `x-${setting.replaceAll('_', '-')}`;
}
