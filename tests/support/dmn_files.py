"""A DMN file as editors save it, in each version: tables, other logic, structures, extensions."""

from __future__ import annotations

NAMESPACES = {
    "1.1": "http://www.omg.org/spec/DMN/20151101/dmn.xsd",
    "1.2": "http://www.omg.org/spec/DMN/20180521/MODEL/",
    "1.3": "https://www.omg.org/spec/DMN/20191111/MODEL/",
    "1.4": "https://www.omg.org/spec/DMN/20211108/MODEL/",
    "1.5": "https://www.omg.org/spec/DMN/20230324/MODEL/",
}
_LOANS = """<?xml version="1.0" encoding="UTF-8"?>
<dmn:definitions xmlns:dmn="{model}" xmlns:feel="http://www.omg.org/spec/FEEL/20140401"
    xmlns:tool="urn:tool" id="loans" name="Loans" namespace="urn:bank">
  <dmn:import name="rates" namespace="urn:rates" importType="{model}"/>
  <dmn:itemDefinition name="tScore"><dmn:typeRef>{feel}number</dmn:typeRef>
    <dmn:allowedValues><dmn:text>[0..1000]</dmn:text></dmn:allowedValues></dmn:itemDefinition>
  <dmn:itemDefinition name="tApplicant">
    <dmn:itemComponent name="age"><dmn:typeRef>{feel}number</dmn:typeRef></dmn:itemComponent>
    <dmn:itemComponent name="joined"><dmn:typeRef>{feel}date</dmn:typeRef></dmn:itemComponent>
    <dmn:itemComponent name="job">
      <dmn:itemComponent name="title"><dmn:typeRef>{feel}string</dmn:typeRef></dmn:itemComponent>
    </dmn:itemComponent>
  </dmn:itemDefinition>
  <dmn:inputData id="i1" name="applicant">
    <dmn:variable name="applicant" typeRef="tApplicant"/></dmn:inputData>
  <dmn:inputData id="i2" name="score"><dmn:variable name="score" typeRef="tScore"/></dmn:inputData>
  <dmn:decision id="d_ok" name="Eligibility">
    <dmn:extensionElements><tool:colour of="box">red</tool:colour></dmn:extensionElements>
    <dmn:variable name="Eligibility" typeRef="{feel}string"/>
    <dmn:informationRequirement id="r1"><dmn:requiredInput href="#i1"/></dmn:informationRequirement>
    <dmn:decisionTable id="t_ok" hitPolicy="FIRST">
      <dmn:input id="in1" label="Age"><dmn:inputExpression typeRef="{feel}number">
        <dmn:text>applicant.age</dmn:text></dmn:inputExpression></dmn:input>
      <dmn:input id="in2"><dmn:inputExpression typeRef="tScore">
        <dmn:text>score</dmn:text></dmn:inputExpression></dmn:input>
      <dmn:output id="o1" name="answer" typeRef="{feel}string"/>
      <dmn:rule id="young"><dmn:description>Nobody under 18</dmn:description>
        <dmn:inputEntry id="e1"><dmn:text>&lt; 18</dmn:text></dmn:inputEntry>
        <dmn:inputEntry id="e2"><dmn:text>-</dmn:text></dmn:inputEntry>
        <dmn:outputEntry id="e3"><dmn:text>"no"</dmn:text></dmn:outputEntry></dmn:rule>
      <dmn:rule id="good">
        <dmn:inputEntry id="e4"><dmn:text>-</dmn:text></dmn:inputEntry>
        <dmn:inputEntry id="e5"><dmn:text>&gt;= 600</dmn:text></dmn:inputEntry>
        <dmn:outputEntry id="e6">
          <dmn:text>if applicant.joined &lt; date("2020-01-01") then "yes, " + applicant.job.title
            else "yes"</dmn:text></dmn:outputEntry></dmn:rule>
      <dmn:rule id="rest">
        <dmn:inputEntry id="e7"><dmn:text>-</dmn:text></dmn:inputEntry>
        <dmn:inputEntry id="e8"><dmn:text>-</dmn:text></dmn:inputEntry>
        <dmn:outputEntry id="e9"><dmn:text>"ask"</dmn:text></dmn:outputEntry></dmn:rule>
    </dmn:decisionTable>
  </dmn:decision>
  <dmn:decision id="d_fee" name="Fee">
    <dmn:variable name="Fee" typeRef="{feel}number"/>
    <dmn:decisionTable id="t_fee">
      <dmn:input><dmn:inputExpression><dmn:text>Eligibility</dmn:text></dmn:inputExpression>
      </dmn:input>
      <dmn:output name="fee" typeRef="{feel}number"/>
      <dmn:rule id="f1"><dmn:inputEntry><dmn:text>"no"</dmn:text></dmn:inputEntry>
        <dmn:outputEntry><dmn:text>0</dmn:text></dmn:outputEntry></dmn:rule>
      <dmn:rule id="f2"><dmn:inputEntry><dmn:text>not("no")</dmn:text></dmn:inputEntry>
        <dmn:outputEntry><dmn:text>25</dmn:text></dmn:outputEntry></dmn:rule>
    </dmn:decisionTable>
  </dmn:decision>
  <dmn:decision id="d_sum" name="Total"><dmn:variable name="Total" typeRef="{feel}number"/>
    <dmn:literalExpression><dmn:text>Fee * 1.1</dmn:text></dmn:literalExpression></dmn:decision>
  <dmn:businessKnowledgeModel id="b1" name="Rounding"/>
</dmn:definitions>
"""


def loans(version: str) -> str:
    """Return a file of two tables, a literal expression, a function and an import."""
    feel = "feel:" if version == "1.1" else ""
    return _LOANS.format(model=NAMESPACES[version], feel=feel)
