import type { Operation, OperationCall } from '../../../contract/provider/provider.ts';
import { isImagen } from './imagen.ts';

/** Selects between Imagen and Gemini: requests by the model's name, replies by their content. */
export function imagenOr(imagen: Operation, gemini: Operation): Operation {
  const of = (call: OperationCall): Operation => (isImagen(call.model) ? imagen : gemini);
  return {
    path: (call) => of(call).path(call),
    toProvider: (params, call) => of(call).toProvider?.(params, call) ?? params,
    toContent: (params, call) => of(call).toContent?.(params, call) ?? null,
    fromProvider: (reply, call) => of(call).fromProvider?.(reply, call) ?? reply,
    translateStream: (call) => of(call).translateStream?.(call) ?? null,
    usage: (reply) => (reply.predictions === undefined ? gemini : imagen).usage(reply),
    streamReader: gemini.streamReader,
  };
}
