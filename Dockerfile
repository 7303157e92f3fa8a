FROM python:3.13-slim

WORKDIR /src
COPY pyproject.toml constraints.txt README.md LICENSE NOTICE ./
COPY schemas schemas
COPY streams streams
COPY projections projections
COPY replay replay
COPY tether tether
RUN pip install --no-cache-dir --constraint constraints.txt hatchling \
    && pip install --no-cache-dir --no-build-isolation --constraint constraints.txt .

RUN useradd --create-home --uid 10001 tether \
    && install --directory --owner tether /var/lib/tether
USER tether
WORKDIR /var/lib/tether
ENV TETHER_DATA=/var/lib/tether
VOLUME /var/lib/tether

ENTRYPOINT ["tether"]
CMD ["demo"]
