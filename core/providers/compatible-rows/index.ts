import { pathAsModel } from '../../contract/values/addresses/path-as-model.ts';
import { type CompatibleAdapter, type CompatibleProvider, openAiCompatible } from '../../formats/openai/openai-compatible.ts';
import { allBatches, allFiles } from '../../formats/stored/stored-files.ts';
import type { ProviderDeclaration } from '../../provider-settings/declaration.ts';
import { byteplusEmbed, jinaEmbed, nomicEmbed, voyageEmbed } from './embeddings.ts';
import { huggingFacePath, huggingFacePrefix } from './hugging-face-path.ts';
import { falImages, hyperbolicImages, jinaRerank, siliconflowImages, voyageRerank, workersAiImages } from './media.ts';
import { modelBelowModels, versionOfPrediction } from './model-sources.ts';
import { type CompatibleRow, rows } from './rows.ts';
import { declarations } from './settings.ts';

/** Parts of a row that are code: differences between its bodies and OpenAI's. */
const parts: Readonly<Record<string, Partial<CompatibleProvider>>> = {
  byteplus: { embed: byteplusEmbed },
  'fal-ai': { images: falImages, modelSources: { inPath: pathAsModel } },
  huggingface: { pathPrefix: huggingFacePrefix, proxyPath: huggingFacePath, modelSources: { inPath: modelBelowModels } },
  hyperbolic: { images: hyperbolicImages },
  jina: { embed: jinaEmbed, rerank: jinaRerank },
  // Both files and batches, because a file uploaded for a batch cannot be run elsewhere.
  'kluster-ai': { stored: { files: allFiles, batches: allBatches } },
  nomic: { embed: nomicEmbed },
  replicate: { modelSources: { inPath: modelBelowModels, inBody: versionOfPrediction } },
  siliconflow: { images: siliconflowImages },
  voyage: { embed: voyageEmbed, rerank: voyageRerank },
  'workers-ai': { images: workersAiImages },
};

/** The rows with their code. A row that needs more of its own moves to a folder. */
export const completeRows: readonly (CompatibleRow & CompatibleProvider)[] = rows.map((row) => ({ ...row, ...parts[row.id] }));

export const adapters: readonly CompatibleAdapter[] = completeRows.map((row, index) =>
  openAiCompatible({ ...row, declaration: declarations[index] as ProviderDeclaration }),
);
