import type { JsonObject } from '../values/json/json.ts';

/**
 * Places in which calls to a provider name their model beside `model` and `modelId` of the body. Stored providers that restrict their models check
 * every name. Paths are those below `/v1`, as the client sent them. All functions are pure.
 */
export interface ModelSources {
  /**
   * Returns the model that the path of a pass-through POST selects, whatever its body names. Null if the body names it. Paths with a form that
   * only one meaning has, such as `/models/<model>:predict`, are known for all providers. Restricted models refuse every other path below
   * `/models/` for which this returns null.
   */
  inPath?(path: string): string | null;
  /** Returns the models in other fields of the JSON body of a pass-through call. Fields such as `model_id` are known for all providers. */
  inBody?: ModelsInBody;
  /** Returns the error of a pass-through call whose model cannot be known, null if it can. Called if models are restricted. */
  hidden?(path: string, body: Readonly<JsonObject>): HiddenModel | null;
  /** Request headers that select a model, deployment or variant beside the body (lower-case). Callers can have them forwarded. */
  readonly headers?: readonly string[];
}

export type ModelsInBody = (path: string, body: Readonly<JsonObject>) => readonly string[];
export type ModelsInPath = (path: string) => readonly string[];

export interface HiddenModel {
  /** Field of the request that hides the model. */
  readonly param: string;
  /** Text for the caller: `create the batch with POST /v1/batches`. */
  readonly remedy: string;
}
