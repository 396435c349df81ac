import type { HeaderList } from '../../values/http/http.ts';

/** Returns the models that headers of a request select. `names`: lower-case names of the headers that do. */
export function modelsInHeaders({ headers }: { readonly headers: HeaderList }, names: readonly string[]): string[] {
  return headers.filter((value, at) => at % 2 === 1 && value !== '' && names.includes(headers[at - 1] as string));
}
