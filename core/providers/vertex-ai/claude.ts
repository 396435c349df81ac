import type { Operation, OperationCall } from '../../contract/provider/provider.ts';
import type { JsonObject } from '../../contract/values/json/json.ts';
import { withCloudBetas } from '../../formats/anthropic/cloud-betas.ts';
import { withoutThread } from '../../formats/anthropic/threads.ts';
import { locationPath } from './address.ts';
import { vertexModel } from './models.ts';

/** The version of the Messages API as Vertex AI names it (https://platform.claude.com/docs/en/build-with-claude/claude-on-vertex-ai). */
const version = 'vertex-2023-10-16';

/**
 * An operation of the Messages API by rawPredict. The model moves from the body to the path, the version from a header to the
 * body. Beta features stay in their header, under the names of this platform.
 */
export function overRawPredict(operation: Operation): Operation {
  return withCloudBetas({
    ...operation,
    path: (call) => claudePath(call, `:${call.stream ? 'streamRawPredict' : 'rawPredict'}`),
    toProvider(params, call) {
      const { model: _model, ...body } = withoutThread(operation.toProvider?.(params, call) ?? params, call);
      return { anthropic_version: version, ...body };
    },
  });
}

/** Token counting has a path of its own, with the model in the body. */
export function overCountTokens(operation: Operation): Operation {
  return withCloudBetas({
    ...operation,
    path: (call) => locationPath(call.settings, '/publishers/anthropic/models/count-tokens:rawPredict'),
    toProvider: (params, call): JsonObject => {
      const body = operation.toProvider?.(params, call) ?? params;
      return { anthropic_version: version, ...body, model: vertexModel(call.model).name };
    },
  });
}

function claudePath(call: OperationCall, method: string): string {
  return locationPath(call.settings, vertexModel(call.model).path + method);
}
