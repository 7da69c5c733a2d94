/** Typed events on the platform's EventTarget. */
export class Emitter<Events extends object> {
  readonly #target = new EventTarget();

  /** Call `listener` on every such event. Returns a function that removes the listener. */
  on<Name extends keyof Events & string>(name: Name, listener: (detail: Events[Name]) => void): () => void {
    const handle = (event: Event) => listener((event as CustomEvent<Events[Name]>).detail);
    this.#target.addEventListener(name, handle);
    return () => this.#target.removeEventListener(name, handle);
  }

  protected emit<Name extends keyof Events & string>(name: Name, detail: Events[Name]): void {
    this.#target.dispatchEvent(new CustomEvent(name, { detail }));
  }
}
