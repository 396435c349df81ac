import type { Operation, OperationCall } from '../../contract/provider/provider.ts';
import { editForm } from '../../formats/media/image-content.ts';
import { imageGenerations, images, withWidthAndHeight } from '../../formats/media/images.ts';
import { speech } from '../../formats/media/speech.ts';
import { transcriptions } from '../../formats/media/transcriptions.ts';
import { ocr as mistralOcr } from '../../formats/openai/ocr.ts';
import { rerank as cohereRerank } from '../../formats/openai/rerank.ts';
import { makerPath, mediaPath } from './address.ts';
import { forDeployment, modelInForm } from './deployment.ts';

const id = 'azure-ai';
const pathOf =
  (path: string) =>
  (call: OperationCall): string =>
    mediaPath(call.settings, path);

export const createSpeech: Operation = forDeployment(speech(id, pathOf('/audio/speech')));
export const createTranscription: Operation = { ...transcriptions(id, pathOf('/audio/transcriptions')), modelInForm };
export const createTranslation: Operation = { ...transcriptions(id, pathOf('/audio/translations')), modelInForm };

const openAiImages = imageGenerations(id, pathOf('/images/generations'));

/** FLUX.2 is only known to the API of its maker (https://learn.microsoft.com/azure/foundry/foundry-models/how-to/use-foundry-models-flux). */
const flux2Images = imageGenerations(
  id,
  (call) => makerPath(call.settings, `/blackforestlabs/v1/${fluxName(call.model)}?api-version=preview`, '/images/generations'),
  { refuses: ['quality', 'response_format', 'style', 'user'], request: withWidthAndHeight },
);

export const imageGenerate: Operation = forDeployment({
  ...openAiImages,
  path: (call) => (isFlux2(call) ? flux2Images : openAiImages).path(call),
  toProvider: (params, call) => (isFlux2(call) ? flux2Images : openAiImages).toProvider?.(params, call) ?? params,
});

export const imageEdit: Operation = {
  ...images(id, pathOf('/images/edits')),
  modelInForm,
  takesForms: true,
  // Edits are forms at this provider, even if the client sent JSON.
  toContent: (params, call) => {
    if (call.form) return null;
    call.adapted.push('json->form');
    return { kind: 'form', parts: editForm({ ...params, model: modelInForm(call) }, call) };
  },
};

/** Cohere's rerank models, in Cohere's own format. */
export const rerank: Operation = forDeployment(
  cohereRerank(id, (call) => makerPath(call.settings, '/cohere/v2/rerank', '/v2/rerank')),
);

/** Mistral's document models, in Mistral's own format. */
export const ocr: Operation = forDeployment(mistralOcr(id, (call) => makerPath(call.settings, '/mistral/azure/ocr', '/v1/ocr')));

function isFlux2(call: OperationCall): boolean {
  return /^flux\.2/i.test(call.model);
}

/** `FLUX.2-pro` is `flux-2-pro` in the path. */
function fluxName(model: string): string {
  return encodeURIComponent(model.toLowerCase().replaceAll('.', '-'));
}
