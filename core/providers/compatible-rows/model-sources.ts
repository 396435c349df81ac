import { isText, type JsonObject } from '../../contract/values/json/json.ts';
import { percentDecoded } from '../../contract/values/text/percent-decoded.ts';

/**
 * Returns the model of `/models/<owner>/<name>` and of the functions below it: `/v1/…` and `/pipeline/…` of Hugging Face, `/predictions` of
 * Replicate. Null for other paths.
 */
export function modelBelowModels(path: string): string | null {
  const match = /\/models\/+(.+?)(?:\/(?:v1|pipeline|predictions)(?:\/.*)?)?$/i.exec(path);
  return match === null ? null : percentDecoded(match[1] as string);
}

/** Returns the version that a prediction of Replicate runs, of any model. */
export function versionOfPrediction(path: string, { version }: Readonly<JsonObject>): readonly string[] {
  return /\/predictions\/*$/.test(path) ? [version].filter(isText) : [];
}
