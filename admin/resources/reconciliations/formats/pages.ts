import { isObject, type JsonObject } from '../../../../core/contract/values/json/json.ts';
import { invalid } from '../../../http/errors.ts';

/** One result of a report with its time span and its location in `data`. */
export interface PageResult {
  readonly bucket: JsonObject;
  readonly result: JsonObject;
  readonly location: string;
}

/**
 * Returns the results of one page `{data: [{…, results: […]}]}`, or of an array of such pages. A page that announces another page must be
 * followed by one, so that no part of the bill is missing. Throws AB01.
 */
export function readPages(data: unknown): PageResult[] {
  const pages = Array.isArray(data) ? data : [data];
  return pages.flatMap((page, number) => {
    const at = Array.isArray(data) ? `data[${number}]` : 'data';
    if (!isObject(page) || !Array.isArray(page.data)) throw invalid(`${at}: a page {"data": […]} of the report is expected`);
    if (page.has_more === true && number === pages.length - 1) throw invalid(`${at}.has_more: the next page is missing`);
    return page.data.flatMap((bucket, index) => readBucket(bucket, `${at}.data[${index}]`));
  });
}

function readBucket(bucket: unknown, at: string): PageResult[] {
  if (!isObject(bucket) || !Array.isArray(bucket.results)) throw invalid(`${at}: an object with results is expected`);
  return bucket.results.map((result, index) => {
    const location = `${at}.results[${index}]`;
    if (!isObject(result)) throw invalid(`${location}: an object is expected`);
    return { bucket, result, location };
  });
}
