/** A file of archived WAL. Its name has eight digits of the timeline, and sixteen of the place. */
export function isSegment(name: string): boolean {
  return /^[0-9A-F]{24}$/.test(name);
}

/** Places of all timelines are in one order. */
export function placeOf(segment: string): string {
  return segment.slice(8, 24);
}
